-- service/domain/projects/project_logos.py
CREATE TABLE project_logos (
  project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  media_type TEXT NOT NULL,
  image BLOB NOT NULL,
  updated_at BIGINT NOT NULL
);
-- service/domain/accounts/oauth_apps.py: scopes that people may leave out, as a JSON array
ALTER TABLE provider_clients ADD COLUMN additional_scopes TEXT NOT NULL DEFAULT '[]';
CREATE INDEX provider_clients_of_project ON provider_clients (project_id, created_at, id);
-- service/domain/accounts/app_overrides.py: named preset fields for an app, in both environments of a project
CREATE TABLE app_overrides (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  app TEXT NOT NULL,
  name TEXT NOT NULL,
  oauth_app_id TEXT,
  fields TEXT NOT NULL,               -- JSON object; never a secret field
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (project_id, name)
);
CREATE INDEX app_overrides_of_project ON app_overrides (project_id, created_at, id);
-- people/api_keys.py: one per person; a new one ends the old
CREATE TABLE user_api_keys (
  user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  key_hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL
);
-- service/domain/components/file_stash.py: files that runs wrote or mails brought, for a day
CREATE TABLE stashed_files (
  id TEXT NOT NULL PRIMARY KEY,
  stash_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_id TEXT NOT NULL,
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size BIGINT NOT NULL,
  content_sealed BLOB NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX stashed_files_by_expiry ON stashed_files (expires_at);
CREATE INDEX stashed_files_of_user ON stashed_files (project_id, environment, external_id);
-- service/domain/access/custom_limits.py
CREATE TABLE custom_limits (
  token_hash TEXT NOT NULL PRIMARY KEY,
  window_s INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  created_at BIGINT NOT NULL
);
-- service/domain/projects/usage.py: what was used, hour by hour
CREATE TABLE usage (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  hour BIGINT NOT NULL,               -- its first millisecond
  kind TEXT NOT NULL,
  n BIGINT NOT NULL,
  PRIMARY KEY (project_id, environment, hour, kind)
);
CREATE INDEX usage_by_hour ON usage (hour);
-- audit.py: who did what; append-only
CREATE TABLE audit (
  id TEXT NOT NULL PRIMARY KEY,       -- grows with time
  at BIGINT NOT NULL,
  project_id TEXT,
  environment TEXT,
  actor_kind TEXT NOT NULL,           -- 'client', 'user', 'person', 'command' or 'system'
  actor TEXT NOT NULL,
  external_user_id TEXT,
  noun TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  verb TEXT NOT NULL,
  sentence TEXT NOT NULL
);
CREATE INDEX audit_of_place ON audit (project_id, environment, at, id);
CREATE INDEX audit_by_age ON audit (at, id);
