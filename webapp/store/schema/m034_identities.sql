-- people/identities.py: who people are at the OpenID provider where they sign in
CREATE TABLE identities (
  id TEXT NOT NULL PRIMARY KEY,       -- the hash of issuer and subject
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (user_id, issuer)
);
