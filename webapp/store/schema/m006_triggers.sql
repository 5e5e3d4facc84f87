-- service/domain/triggers/lifecycle.py: all deployed triggers; four kinds of emitter share the table
CREATE TABLE deployed_triggers (
  id TEXT NOT NULL PRIMARY KEY,       -- dc_…, hi_…, ti_… or ei_…, by its emitter
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_user_id TEXT NOT NULL REFERENCES external_users (id) ON DELETE CASCADE,
  external_id TEXT NOT NULL,
  emitter TEXT NOT NULL,              -- 'source', 'http', 'timer' or 'email'
  component_id TEXT NOT NULL,
  component_key TEXT NOT NULL,
  component_version TEXT NOT NULL,
  app TEXT,
  name TEXT NOT NULL,
  name_slug TEXT NOT NULL,
  props TEXT NOT NULL,                -- JSON array: the configurable props it was deployed with
  configured_sealed BLOB NOT NULL,    -- JSON object: configured_props as they were given
  dynamic_props_id TEXT,
  active INTEGER NOT NULL,
  switched_off TEXT,                  -- why the system switched it off, in a sentence; null when a person did
  emit_on_deploy INTEGER NOT NULL,
  schedule TEXT,                      -- JSON: {"intervalSeconds"} or {"cron", "timezone"}
  schedule_changed_at BIGINT,
  next_run_at BIGINT,                 -- null when nothing is due
  lease_until BIGINT NOT NULL DEFAULT 0,
  turn BIGINT NOT NULL DEFAULT 0,     -- grows with every claim and change: fences a holder that was too slow
  busy_until BIGINT NOT NULL DEFAULT 0, -- its hooks are running: no other change begins, no tick is claimed
  deployed INTEGER NOT NULL DEFAULT 0, -- 0 while the hooks of its deployment run: nobody sees it yet
  failures INTEGER NOT NULL DEFAULT 0,
  last_run_at BIGINT,
  last_error TEXT,
  last_event_at BIGINT,
  mark TEXT,                          -- the id that dedupe "greatest" and "last" compare with
  endpoint_hash TEXT UNIQUE,          -- of the key in /h/<key>
  endpoint_sealed BLOB,
  email_local TEXT UNIQUE,            -- the part before the @
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (external_user_id, name_slug)
);
CREATE INDEX deployed_triggers_of_user ON deployed_triggers (external_user_id, emitter, created_at, id);
CREATE INDEX deployed_triggers_of_place ON deployed_triggers (project_id, environment, emitter, created_at, id);
CREATE INDEX deployed_triggers_due ON deployed_triggers (emitter, next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX deployed_triggers_unfinished ON deployed_triggers (busy_until) WHERE deployed = 0;
-- service/domain/projects/activity.py: an entry may be about a trigger; its account_id is then empty
ALTER TABLE account_history ADD COLUMN trigger_id TEXT;
-- service/domain/triggers/trigger_accounts.py: which accounts a trigger works with
CREATE TABLE trigger_accounts (
  trigger_id TEXT NOT NULL REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  prop TEXT NOT NULL,
  account_id TEXT NOT NULL,           -- kept when the account is gone, so that the page can say which was
  PRIMARY KEY (trigger_id, prop)
);
CREATE INDEX trigger_accounts_of_account ON trigger_accounts (account_id);
-- service/domain/triggers/trigger_memory.py: the state of a trigger from one run to the next
CREATE TABLE trigger_memory (
  trigger_id TEXT NOT NULL PRIMARY KEY REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL,
  state_sealed BLOB NOT NULL          -- JSON object
);
-- service/domain/triggers/dedupe.py: the ids that a trigger has emitted
CREATE TABLE trigger_seen (
  trigger_id TEXT NOT NULL REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  emitted_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (trigger_id, emitted_id)
);
CREATE INDEX trigger_seen_by_age ON trigger_seen (trigger_id, at);
-- service/domain/triggers/inbox.py: requests that were accepted for a trigger and wait for its run
CREATE TABLE trigger_inbox (
  id TEXT NOT NULL PRIMARY KEY,       -- grows with time: the order in which they are run
  trigger_id TEXT NOT NULL REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL,
  request_sealed BLOB NOT NULL,
  received_at BIGINT NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,   -- how often its run has failed
  next_at BIGINT NOT NULL,
  lease_until BIGINT NOT NULL DEFAULT 0,
  turn BIGINT NOT NULL DEFAULT 0      -- grows with every claim: fences a holder that was too slow
);
CREATE INDEX trigger_inbox_due ON trigger_inbox (next_at);
CREATE INDEX trigger_inbox_of_trigger ON trigger_inbox (trigger_id, id);
-- service/domain/triggers/runs.py: the log of a trigger's runs
CREATE TABLE trigger_runs (
  id TEXT NOT NULL PRIMARY KEY,
  trigger_id TEXT NOT NULL REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  cause TEXT NOT NULL,                -- 'timer', 'request', 'deploy', 'activate', 'deactivate'
  ok INTEGER NOT NULL,
  took_ms BIGINT NOT NULL,
  emitted INTEGER NOT NULL,
  error TEXT,
  lines_sealed BLOB NOT NULL          -- JSON array of observations, masked
);
CREATE INDEX trigger_runs_of_trigger ON trigger_runs (trigger_id, at, id);
CREATE INDEX trigger_runs_by_age ON trigger_runs (at);
