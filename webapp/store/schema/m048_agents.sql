-- service/domain/agents/permissions.py: what an external user permits agents to do, where that differs from the default
CREATE TABLE agent_permissions (
  id TEXT NOT NULL PRIMARY KEY,       -- of the user, the app and the action, so that each stands once
  external_user_id TEXT NOT NULL REFERENCES external_users (id) ON DELETE CASCADE,
  app TEXT NOT NULL,                  -- its slug; '' for a component without one
  action TEXT NOT NULL,               -- the component's key; '' for all actions of the app
  level TEXT NOT NULL,                -- 'off', 'ask' or 'on'
  changed_at BIGINT NOT NULL
);
CREATE INDEX agent_permissions_of_user ON agent_permissions (external_user_id, app, action);
-- service/domain/agents/sessions.py: agents that have connected for an external user
CREATE TABLE agent_sessions (
  id TEXT NOT NULL PRIMARY KEY,
  external_user_id TEXT NOT NULL REFERENCES external_users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                 -- 'person', 'token' or 'client': how it came in
  credential TEXT NOT NULL,           -- by which it came in: the person's grant, or the OAuth client
  token_hash TEXT NOT NULL,           -- SHA-256 of the Connect token that it sent last; '' for none
  name TEXT NOT NULL,                 -- what the agent calls itself
  created_at BIGINT NOT NULL,
  used_at BIGINT NOT NULL,
  ended_at BIGINT                     -- when the person ended it
);
CREATE UNIQUE INDEX agent_sessions_of_user ON agent_sessions (external_user_id, kind, credential, name);
CREATE INDEX agent_sessions_by_credential ON agent_sessions (credential);
CREATE INDEX agent_sessions_by_token ON agent_sessions (token_hash);
CREATE INDEX agent_sessions_by_use ON agent_sessions (used_at);
-- service/domain/agents/approvals.py: calls that wait for the person's approval, and their outcomes
CREATE TABLE agent_approvals (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_user_id TEXT NOT NULL REFERENCES external_users (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  agent TEXT NOT NULL,                -- the agent's name
  token_hash TEXT NOT NULL,           -- SHA-256 of the Connect token that asks, which never answers; '' for none
  app TEXT NOT NULL,
  action TEXT NOT NULL,               -- the component's key
  version TEXT NOT NULL,
  digest TEXT NOT NULL,               -- of the values: the same call is asked for once
  state TEXT NOT NULL,                -- 'waiting', 'approved', 'refused' or 'used'
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  decided_at BIGINT,
  inputs_sealed BLOB NOT NULL         -- the values, without those of secret props
);
CREATE INDEX agent_approvals_of_user ON agent_approvals (external_user_id, created_at, id);
CREATE INDEX agent_approvals_of_project ON agent_approvals (project_id);
CREATE INDEX agent_approvals_by_age ON agent_approvals (created_at);
-- service/domain/components/runs.py: the name of the agent that ran it; null for others
ALTER TABLE runs ADD COLUMN agent TEXT;
