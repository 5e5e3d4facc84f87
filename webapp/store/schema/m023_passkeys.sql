-- people/passkeys.py: keys of devices with which people sign in
CREATE TABLE passkeys (
  id TEXT NOT NULL PRIMARY KEY,       -- the credential id, as base64url
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  public_key BLOB NOT NULL,
  sign_count BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at BIGINT                      -- NULL until somebody signs in with it
);
CREATE INDEX passkeys_of_user ON passkeys (user_id);
-- people/challenges.py: what was answered, so that no answer counts twice
CREATE TABLE spent_challenges (
  challenge_hash TEXT NOT NULL PRIMARY KEY,
  until BIGINT NOT NULL
);
