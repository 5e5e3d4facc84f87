-- store/move.py: the progress of a move into this database; empty if none is under way
CREATE TABLE moves (
  name TEXT NOT NULL PRIMARY KEY,     -- a table; "" for the move itself
  last_key TEXT NOT NULL,             -- JSON array: the primary key of the last row that is here; what the source was
  copied BIGINT NOT NULL,
  ended INTEGER NOT NULL
);
