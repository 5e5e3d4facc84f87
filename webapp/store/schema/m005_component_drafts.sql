-- dashboard/component/drafts.py: values that people entered for a component, and which runs were sent
CREATE TABLE component_drafts (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  component TEXT NOT NULL,            -- its key
  fields TEXT NOT NULL,               -- JSON object: form field to its values; never a secret
  dynamic_id TEXT NOT NULL,
  dynamic_props TEXT NOT NULL,        -- JSON array
  made_from TEXT NOT NULL,            -- digest of the answers that the dynamic props follow from
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, component)
);
CREATE TABLE component_runs_sent (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  once TEXT NOT NULL,                 -- a word made with the page; it starts one run
  at BIGINT NOT NULL,
  PRIMARY KEY (user_id, once)
);
CREATE INDEX component_runs_sent_by_age ON component_runs_sent (at);
