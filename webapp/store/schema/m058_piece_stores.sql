-- service/domain/components/piece_stores.py: what integrations from npm keep for an external user between runs
CREATE TABLE piece_stores (
  id TEXT NOT NULL PRIMARY KEY,       -- the user's id and the package
  project_id TEXT NOT NULL,           -- whose data key seals it
  external_user_id TEXT NOT NULL REFERENCES external_users (id) ON DELETE CASCADE,
  package TEXT NOT NULL,
  size BIGINT NOT NULL,               -- bytes of the JSON
  values_sealed BLOB NOT NULL,        -- JSON object
  changed_at BIGINT NOT NULL
);
CREATE INDEX piece_stores_of_user ON piece_stores (external_user_id);
