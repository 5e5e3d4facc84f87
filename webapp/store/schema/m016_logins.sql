-- people/users.py: somebody who was disabled may not sign in
ALTER TABLE users ADD COLUMN disabled_at BIGINT;
-- people/password_resets.py: one link per person, for a new password
CREATE TABLE password_resets (
  user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
