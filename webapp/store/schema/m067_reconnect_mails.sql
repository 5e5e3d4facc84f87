-- people/preferences.py: whether the person is mailed when an account needs them
ALTER TABLE preferences ADD COLUMN reconnect_mails INTEGER NOT NULL DEFAULT 1;
-- service/domain/instance/reconnect_mails.py: when a person may be mailed next, and what became of the last try
CREATE TABLE reconnect_mails (
  user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  next_at BIGINT NOT NULL,            -- not before then
  attempt BIGINT NOT NULL,            -- grows with every try, so that only the newest one writes
  failures INTEGER NOT NULL,
  error TEXT,
  sent_at BIGINT
);
-- service/domain/instance/reconnect_mails.py: which of an account's credentials somebody was mailed about
CREATE TABLE reconnect_reminders (
  account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  revision BIGINT NOT NULL,           -- of the account, when it needed its person
  mails INTEGER NOT NULL,
  mailed_at BIGINT NOT NULL
);
-- service/domain/instance/reconnect_links.py: the link in a mail, which works once
CREATE TABLE reconnect_links (
  id TEXT NOT NULL PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  account_ids TEXT NOT NULL,          -- JSON array
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT,
  visit_hash TEXT                     -- the cookie of the browser that used it
);
CREATE INDEX reconnect_links_by_expiry ON reconnect_links (expires_at);
CREATE INDEX reconnect_links_of_user ON reconnect_links (user_id);
CREATE INDEX accounts_dead ON accounts (updated_at) WHERE dead = 1;
