-- people/users.py: when a person was last here
ALTER TABLE users ADD COLUMN seen_at BIGINT;
UPDATE users SET seen_at = (SELECT MAX(seen_at) FROM sessions WHERE sessions.user_id = users.id);
-- people/invitations.py: one per address, until somebody accepts or withdraws it
CREATE TABLE invitations (
  id TEXT NOT NULL PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,         -- as in users
  role TEXT NOT NULL,
  invited_by TEXT,                    -- the person who did; NULL for a command or an OAuth client
  token_hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX invitations_in_order ON invitations (created_at, id);
