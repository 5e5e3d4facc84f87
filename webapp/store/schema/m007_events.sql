-- service/domain/deliveries/events.py: what was emitted, as it is delivered; a Connect notification is an event without a trigger
CREATE TABLE events (
  id TEXT NOT NULL PRIMARY KEY,       -- grows with time
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  trigger_id TEXT REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                 -- 'emit', or the name of a notification
  at BIGINT NOT NULL,
  emitted_id TEXT,
  emitted_at BIGINT,                  -- the time that the component gave it, if any
  summary TEXT,
  body BLOB,                          -- JSON, byte for byte as it is sent
  body_sealed BLOB                    -- instead of body, where it carries a Connect token or the key of a trigger's URL
);
CREATE INDEX events_of_trigger ON events (trigger_id, at, id);
CREATE INDEX events_by_age ON events (at);
CREATE INDEX events_sealed ON events (id) WHERE body_sealed IS NOT NULL;
-- service/domain/deliveries/signing_keys.py: what a project's notifications are signed with, one for each environment
CREATE TABLE signing_keys (
  id TEXT NOT NULL PRIMARY KEY,       -- <project id>|<environment>
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  key_sealed BLOB NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
-- service/domain/deliveries/endpoints.py: where deliveries go
CREATE TABLE endpoints (
  id TEXT NOT NULL PRIMARY KEY,       -- wh_…, and p_… for a workflow
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE, -- null for a general webhook of the workspace
  environment TEXT,
  owner TEXT NOT NULL,                -- 'trigger', 'project', 'workflow', 'general' or 'notification'
  trigger_id TEXT REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  user_id TEXT,                       -- who made a general webhook
  name TEXT,
  description TEXT,
  url TEXT NOT NULL,
  key_sealed BLOB,                    -- null where the project's key signs
  active INTEGER NOT NULL,
  state TEXT NOT NULL,                -- 'happy', 'penalty' or 'deactivated'
  state_since BIGINT NOT NULL,
  last_error TEXT,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  sheds INTEGER NOT NULL DEFAULT 0,   -- deliveries put off because this endpoint was failing
  failing_since BIGINT,
  position INTEGER NOT NULL DEFAULT 0, -- its place among the webhooks of one trigger
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX endpoints_of_trigger ON endpoints (trigger_id, url) WHERE trigger_id IS NOT NULL;
CREATE INDEX endpoints_of_project ON endpoints (project_id, environment, owner, url);
CREATE INDEX endpoints_of_owner ON endpoints (owner);
-- which workflows a trigger's events go to
CREATE TABLE trigger_workflows (
  trigger_id TEXT NOT NULL REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  endpoint_id TEXT NOT NULL REFERENCES endpoints (id) ON DELETE CASCADE,
  position INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (trigger_id, endpoint_id)
);
CREATE INDEX trigger_workflows_of_endpoint ON trigger_workflows (endpoint_id);
-- service/domain/deliveries/deliveries.py: the outbox; an event and its deliveries are committed together
CREATE TABLE deliveries (
  id TEXT NOT NULL PRIMARY KEY,       -- grows with time
  event_id TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  endpoint_id TEXT NOT NULL REFERENCES endpoints (id) ON DELETE CASCADE,
  trigger_id TEXT,
  status TEXT NOT NULL,               -- 'waiting', 'delivered' or 'failed'
  attempt INTEGER NOT NULL DEFAULT 0, -- how many were begun; fences a worker that was too slow
  tries INTEGER NOT NULL DEFAULT 0,   -- place in the retry schedule; begins anew with a resend
  next_at BIGINT,                     -- when to send; the end of the lease while it is being sent; null: never again
  lease_until BIGINT NOT NULL DEFAULT 0,
  last_at BIGINT,                     -- when the last attempt that ended began
  last_status INTEGER,
  last_error TEXT,
  took_ms BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (next_at, endpoint_id) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_due_of_endpoint ON deliveries (endpoint_id, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_of_event ON deliveries (event_id);
CREATE INDEX deliveries_of_endpoint ON deliveries (endpoint_id);
CREATE INDEX deliveries_of_trigger ON deliveries (trigger_id, created_at, id);
CREATE INDEX deliveries_of_trigger_by_status ON deliveries (trigger_id, status, created_at, id);
CREATE TABLE delivery_attempts (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  at BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  status INTEGER,
  error TEXT,
  signed TEXT,                        -- JSON: the headers that this attempt was signed with
  response TEXT,                      -- JSON: headers (masked) and the first 2 kB of the body
  PRIMARY KEY (delivery_id, n)
);
-- service/domain/access/connect_tokens.py: notifications name the Connect token they are about, so one that asks for them is kept sealed
ALTER TABLE connect_tokens ADD COLUMN token_sealed BLOB;
