-- people/preferences.py: what a person chose for the pages
CREATE TABLE preferences (
  user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  theme TEXT NOT NULL,                -- 'auto', 'light' or 'dark'
  time_zone TEXT NOT NULL,            -- an IANA name, or '' for the browser's own
  language TEXT NOT NULL,             -- a BCP 47 tag
  updated_at BIGINT NOT NULL
);
