-- demo.py: that this installation was filled by `patchbay demo`, with nothing of anybody's in it
CREATE TABLE demo (
  name TEXT PRIMARY KEY,              -- of the product that was made up
  made_at BIGINT NOT NULL
);
