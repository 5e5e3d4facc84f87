-- dashboard/shared/one_time_secrets.py: secrets that were just made, for the page that follows
CREATE TABLE shown_once (
  name TEXT NOT NULL PRIMARY KEY,     -- who is to see it, and on which page
  secret_box BLOB NOT NULL,           -- JSON array: a sentence and the secret; a key of the installation's opens it
  until BIGINT NOT NULL
);
CREATE INDEX shown_once_by_end ON shown_once (until);
-- dashboard/shared/changes.py: counts of changes, by which web processes notice that they must read again
CREATE TABLE page_changes (
  name TEXT NOT NULL PRIMARY KEY,
  n INTEGER NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX page_changes_by_age ON page_changes (at);
