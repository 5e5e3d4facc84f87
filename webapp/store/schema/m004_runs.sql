-- service/domain/components/dynamic_props.py: the props that a reload returned, for later calls
CREATE TABLE dynamic_props (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_id TEXT NOT NULL,
  component_id TEXT NOT NULL,         -- sc_…, which names one version
  props TEXT NOT NULL,                -- JSON array
  created_at BIGINT NOT NULL,
  used_at BIGINT NOT NULL
);
CREATE INDEX dynamic_props_by_use ON dynamic_props (used_at);
CREATE INDEX dynamic_props_of_project ON dynamic_props (project_id);
-- service/domain/components/runs.py: calls of components and their outcomes
CREATE TABLE runs (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_user_id TEXT REFERENCES external_users (id) ON DELETE CASCADE,
  external_id TEXT NOT NULL,
  component_id TEXT NOT NULL,
  component_key TEXT NOT NULL,
  component_version TEXT NOT NULL,
  app TEXT,
  started_at BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  ok INTEGER NOT NULL,
  summary TEXT,
  error TEXT,
  inputs_sealed BLOB NOT NULL,
  outputs_sealed BLOB NOT NULL
);
CREATE INDEX runs_of_place ON runs (project_id, environment, started_at, id);
CREATE INDEX runs_of_user ON runs (project_id, environment, external_id, started_at, id);
CREATE INDEX runs_of_external_user ON runs (external_user_id);
CREATE INDEX runs_by_age ON runs (started_at);
