-- service/domain/base/keyring.py: the instance key's proof, and each project's data keys wrapped by it
CREATE TABLE data_keys (
  owner TEXT NOT NULL,                -- a project id, or 'instance'
  version INTEGER NOT NULL,
  wrapped BLOB NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (owner, version)
);
-- store/table.py: exact counts of lists that grow
CREATE TABLE counters (
  name TEXT NOT NULL PRIMARY KEY,
  n BIGINT NOT NULL
);
-- service/domain/projects/projects.py
CREATE TABLE projects (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  app_name TEXT NOT NULL,
  support_email TEXT NOT NULL,
  connect_require_key_auth_test INTEGER NOT NULL DEFAULT 1,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX projects_in_order ON projects (created_at, id);
-- service/domain/access/oauth_clients.py: OAuth clients of the workspace, or of one project
CREATE TABLE oauth_clients (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  origin TEXT NOT NULL,               -- 'init' (made for scripts), 'cli' or 'person'
  created_at BIGINT NOT NULL,
  rotated_at BIGINT NOT NULL
);
-- service/domain/projects/external_users.py
CREATE TABLE external_users (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (project_id, environment, external_id)
);
-- service/domain/accounts/oauth_apps.py: OAuth clients at providers; no project means the whole installation
CREATE TABLE provider_clients (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
  app TEXT NOT NULL,
  client_id TEXT NOT NULL,
  secret_sealed BLOB,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  scopes TEXT NOT NULL,               -- JSON array
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX provider_clients_by_app ON provider_clients (app, project_id);
-- service/domain/access/connect_tokens.py: Connect tokens, kept 7 days past their expiry so that a page can read its 401
CREATE TABLE connect_tokens (
  token_hash TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_user_id TEXT NOT NULL REFERENCES external_users (id) ON DELETE CASCADE,
  client_id TEXT,
  scope TEXT NOT NULL,
  allowed_origins TEXT NOT NULL,      -- JSON array
  success_redirect_uri TEXT,
  error_redirect_uri TEXT,
  webhook_uri TEXT,
  allow_progressive_scopes INTEGER NOT NULL,
  app TEXT,
  oauth_app_id TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX connect_tokens_by_expiry ON connect_tokens (expires_at);
CREATE TABLE token_origins (
  origin TEXT NOT NULL PRIMARY KEY,
  expires_at BIGINT NOT NULL          -- when the last token that allows it expires
);
-- service/domain/accounts/account_state.py
CREATE TABLE accounts (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_user_id TEXT NOT NULL REFERENCES external_users (id) ON DELETE CASCADE,
  external_id TEXT NOT NULL,
  app TEXT NOT NULL,
  oauth_app_id TEXT,
  name TEXT,
  identity_id TEXT,
  identity_name TEXT,
  healthy INTEGER NOT NULL,
  dead INTEGER NOT NULL,
  error TEXT,
  authorized_scopes TEXT NOT NULL,    -- JSON array
  scope_profile TEXT,
  credentials_sealed BLOB NOT NULL,
  credentials_key INTEGER NOT NULL,   -- version of the project's data key
  expires_at BIGINT,
  last_refreshed_at BIGINT,
  next_refresh_at BIGINT,
  last_checked_at BIGINT,
  next_check_at BIGINT,
  failures INTEGER NOT NULL DEFAULT 0,
  lease_until BIGINT NOT NULL DEFAULT 0,
  lease_holder TEXT,
  revision BIGINT NOT NULL DEFAULT 0, -- grows with every change of the credentials
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX accounts_of_place ON accounts (project_id, environment, created_at, id);
CREATE INDEX accounts_of_user ON accounts (external_user_id, created_at, id);
CREATE INDEX accounts_of_app ON accounts (project_id, environment, app, created_at, id);
CREATE INDEX accounts_of_client ON accounts (oauth_app_id, created_at, id);
CREATE INDEX accounts_due ON accounts (next_refresh_at) WHERE next_refresh_at IS NOT NULL;
CREATE INDEX accounts_to_check ON accounts (next_check_at) WHERE next_check_at IS NOT NULL;
-- service/domain/projects/activity.py: what happened to an account; kept after its deletion
CREATE TABLE account_history (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_user_id TEXT NOT NULL,
  app TEXT NOT NULL,
  at BIGINT NOT NULL,
  kind TEXT NOT NULL,
  good INTEGER NOT NULL,
  sentence TEXT NOT NULL
);
CREATE INDEX account_history_of_account ON account_history (account_id, at, id);
CREATE INDEX account_history_of_user ON account_history (external_user_id, at, id);
CREATE INDEX account_history_of_place ON account_history (project_id, environment, at, id);
-- service/domain/accounts/attempts.py: a person's attempt to connect an account
CREATE TABLE connect_attempts (
  id TEXT NOT NULL PRIMARY KEY,       -- the hash of the attempt's own secret
  token_hash TEXT NOT NULL REFERENCES connect_tokens (token_hash) ON DELETE CASCADE,
  app TEXT NOT NULL,
  oauth_app_id TEXT,
  account_id TEXT,                    -- the account to reconnect
  scopes TEXT NOT NULL,               -- JSON array of what is asked for
  scope_profile TEXT,
  mode TEXT NOT NULL,                 -- 'tab' or 'window'
  started_at BIGINT,
  binding_hash TEXT,                  -- the cookie of the browser that started it
  state_hash TEXT UNIQUE,
  sealed BLOB,                        -- PKCE verifier and fields of the form
  session_id TEXT,                    -- the link session of a top-level page, to go back to
  status TEXT NOT NULL,               -- 'open', 'started', 'exchanging', 'connected', 'failed'
  claimed_at BIGINT,                  -- when the exchange began
  result_account_id TEXT,
  error_code TEXT,
  error_sentence TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX connect_attempts_by_expiry ON connect_attempts (expires_at);
CREATE INDEX connect_attempts_of_session ON connect_attempts (session_id, started_at);
-- service/domain/access/link_sessions.py: a top-level Connect Link page, whose token left the URL for a cookie
CREATE TABLE link_sessions (
  id TEXT NOT NULL PRIMARY KEY,
  secret_hash TEXT NOT NULL,
  token_hash TEXT NOT NULL REFERENCES connect_tokens (token_hash) ON DELETE CASCADE,
  parameters TEXT NOT NULL,           -- JSON object of the link's own query
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX link_sessions_by_expiry ON link_sessions (expires_at);
-- people/users.py
CREATE TABLE users (
  id TEXT NOT NULL PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,         -- as written, lower-cased
  password_hash TEXT NOT NULL,
  role TEXT NOT NULL,                 -- 'owner', 'developer' or 'member'
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
-- people/sessions.py
CREATE TABLE sessions (
  token_hash TEXT NOT NULL PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  user_agent TEXT NOT NULL,
  address TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
-- people/start_tokens.py: what lets the first visitor create the owner
CREATE TABLE start_tokens (
  token_hash TEXT NOT NULL PRIMARY KEY,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
-- people/sign_in_attempts.py: failed sign-ins, counted per address and per e-mail
CREATE TABLE sign_in_failures (
  subject TEXT NOT NULL PRIMARY KEY,  -- a hash of what is counted
  failures INTEGER NOT NULL,
  until BIGINT NOT NULL
);
