-- people/totp.py: the secrets that this installation shares with people's authenticator apps
CREATE TABLE totp_secrets (
  user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  secret_sealed BLOB NOT NULL,
  last_step BIGINT NOT NULL,          -- of the last code that was taken: none is taken twice
  created_at BIGINT NOT NULL,
  enabled_at BIGINT                   -- NULL until a first code proved that the app knows it
);
-- people/totp.py: each stands in for the app once
CREATE TABLE recovery_codes (
  code_hash TEXT NOT NULL PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX recovery_codes_of_user ON recovery_codes (user_id);
