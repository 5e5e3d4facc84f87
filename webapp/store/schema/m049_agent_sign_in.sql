-- people/agents/clients.py: programs that registered themselves to act for people (RFC 7591)
CREATE TABLE agent_clients (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,        -- JSON array
  created_at BIGINT NOT NULL,
  used_at BIGINT                      -- when somebody last let it in
);
CREATE INDEX agent_clients_by_age ON agent_clients (created_at);
-- people/agents/grants.py: that a person lets a program act for them, and the code by which it learns so
CREATE TABLE agent_grants (
  id TEXT NOT NULL PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES agent_clients (id) ON DELETE CASCADE,
  client_name TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  code_hash TEXT NOT NULL,            -- SHA-256
  challenge TEXT NOT NULL,            -- of PKCE, S256
  exchanged INTEGER NOT NULL,         -- whether its code was used
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL          -- of the code, then of the last refresh token
);
CREATE UNIQUE INDEX agent_grants_by_code ON agent_grants (code_hash);
CREATE INDEX agent_grants_of_user ON agent_grants (user_id);
CREATE INDEX agent_grants_of_project ON agent_grants (project_id);
CREATE INDEX agent_grants_of_client ON agent_grants (client_id);
CREATE INDEX agent_grants_by_expiry ON agent_grants (expires_at);
-- people/agents/tokens.py: the tokens of a program that a person permitted
CREATE TABLE agent_tokens (
  token_hash TEXT NOT NULL PRIMARY KEY,  -- SHA-256
  grant_id TEXT NOT NULL REFERENCES agent_grants (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                 -- 'access' or 'refresh'
  used INTEGER NOT NULL,              -- whether a refresh token was exchanged for another
  expires_at BIGINT NOT NULL
);
CREATE INDEX agent_tokens_of_grant ON agent_tokens (grant_id);
CREATE INDEX agent_tokens_by_expiry ON agent_tokens (expires_at);
