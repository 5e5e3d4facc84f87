-- dashboard/portal/sessions.py: the frame in which a product shows a user their own pages, by a Connect token
CREATE TABLE portal_sessions (
  id TEXT NOT NULL PRIMARY KEY,       -- SHA-256 of the handle in its addresses
  token_box BLOB NOT NULL,            -- the Connect token; the handle alone opens it
  viewer TEXT NOT NULL,               -- whose drafts it has
  user_id TEXT REFERENCES external_users (id) ON DELETE CASCADE,  -- null where the service is another installation's
  facts TEXT NOT NULL,                -- JSON object: what the token says of itself
  nav INTEGER NOT NULL,
  theme TEXT NOT NULL,
  language TEXT NOT NULL,             -- "" for the browser's
  notes TEXT NOT NULL,                -- JSON array: what the page before left to say
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX portal_sessions_by_expiry ON portal_sessions (expires_at);
CREATE INDEX portal_sessions_of_user ON portal_sessions (user_id);
-- dashboard/component/drafts.py: values that people entered for a component, and which runs were sent; of those who sign
-- in and of those whom a product shows a portal
CREATE TABLE viewer_drafts (
  viewer TEXT NOT NULL,
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  external_user_id TEXT REFERENCES external_users (id) ON DELETE CASCADE,
  component TEXT NOT NULL,            -- its key, or the id of the trigger that is edited
  fields TEXT NOT NULL,               -- JSON object: form field to its values; never a secret
  dynamic_id TEXT NOT NULL,
  dynamic_props TEXT NOT NULL,        -- JSON array
  made_from TEXT NOT NULL,            -- digest of the answers that the dynamic props follow from
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (viewer, component)
);
INSERT INTO viewer_drafts
  (viewer, user_id, component, fields, dynamic_id, dynamic_props, made_from, updated_at)
  SELECT user_id, user_id, component, fields, dynamic_id, dynamic_props, made_from, updated_at FROM component_drafts;
DROP TABLE component_drafts;
CREATE INDEX viewer_drafts_of_user ON viewer_drafts (user_id);
CREATE INDEX viewer_drafts_of_external_user ON viewer_drafts (external_user_id);
DROP INDEX component_runs_sent_by_age;
DROP TABLE component_runs_sent;
CREATE TABLE viewer_runs_sent (
  viewer TEXT NOT NULL,
  once TEXT NOT NULL,                 -- a word made with the page; it starts one run
  at BIGINT NOT NULL,
  PRIMARY KEY (viewer, once)
);
CREATE INDEX viewer_runs_sent_by_age ON viewer_runs_sent (at);
