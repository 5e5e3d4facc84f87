-- The logs (service/domain/logs/): one list over the tables that exist, by who, what, outcome and time.
-- service/domain/deliveries/events.py, deliveries.py and triggers/runs.py: whose they are, which only their trigger said
ALTER TABLE events ADD COLUMN external_user_id TEXT;
ALTER TABLE events ADD COLUMN app TEXT;
UPDATE events SET
  external_user_id = (SELECT t.external_user_id FROM deployed_triggers t WHERE t.id = events.trigger_id),
  app = (SELECT t.app FROM deployed_triggers t WHERE t.id = events.trigger_id)
  WHERE trigger_id IS NOT NULL;
CREATE INDEX events_of_place ON events (project_id, environment, at, id);
CREATE INDEX events_of_user ON events (external_user_id, at, id) WHERE external_user_id IS NOT NULL;
CREATE INDEX events_of_app ON events (project_id, environment, app, at, id) WHERE app IS NOT NULL;
ALTER TABLE deliveries ADD COLUMN project_id TEXT;
ALTER TABLE deliveries ADD COLUMN environment TEXT;
ALTER TABLE deliveries ADD COLUMN external_user_id TEXT;
ALTER TABLE deliveries ADD COLUMN app TEXT;
UPDATE deliveries SET
  project_id = (SELECT e.project_id FROM events e WHERE e.id = deliveries.event_id),
  environment = (SELECT e.environment FROM events e WHERE e.id = deliveries.event_id),
  external_user_id = (SELECT e.external_user_id FROM events e WHERE e.id = deliveries.event_id),
  app = (SELECT e.app FROM events e WHERE e.id = deliveries.event_id);
CREATE INDEX deliveries_of_place ON deliveries (project_id, environment, status, created_at, id);
CREATE INDEX deliveries_of_user ON deliveries (external_user_id, status, created_at, id)
  WHERE external_user_id IS NOT NULL;
CREATE INDEX deliveries_of_app ON deliveries (project_id, environment, app, status, created_at, id)
  WHERE app IS NOT NULL;
ALTER TABLE trigger_runs ADD COLUMN environment TEXT;
ALTER TABLE trigger_runs ADD COLUMN external_user_id TEXT;
ALTER TABLE trigger_runs ADD COLUMN app TEXT;
UPDATE trigger_runs SET
  environment = (SELECT t.environment FROM deployed_triggers t WHERE t.id = trigger_runs.trigger_id),
  external_user_id = (SELECT t.external_user_id FROM deployed_triggers t WHERE t.id = trigger_runs.trigger_id),
  app = (SELECT t.app FROM deployed_triggers t WHERE t.id = trigger_runs.trigger_id);
-- polls that found nothing are in the log of their trigger only
CREATE INDEX trigger_runs_of_place ON trigger_runs (project_id, environment, ok, at, id)
  WHERE ok = 0 OR emitted > 0 OR cause <> 'timer';
CREATE INDEX trigger_runs_of_user ON trigger_runs (external_user_id, ok, at, id)
  WHERE ok = 0 OR emitted > 0 OR cause <> 'timer';
CREATE INDEX trigger_runs_of_app ON trigger_runs (project_id, environment, app, ok, at, id)
  WHERE ok = 0 OR emitted > 0 OR cause <> 'timer';
-- service/domain/components/runs.py: people's and agents' runs apart, each by outcome
CREATE INDEX runs_by_people ON runs (project_id, environment, ok, started_at, id) WHERE agent IS NULL;
CREATE INDEX runs_by_people_of_user ON runs (project_id, environment, external_id, ok, started_at, id)
  WHERE agent IS NULL;
CREATE INDEX runs_by_people_of_app ON runs (project_id, environment, app, ok, started_at, id) WHERE agent IS NULL;
CREATE INDEX runs_by_agents ON runs (project_id, environment, ok, started_at, id) WHERE agent IS NOT NULL;
CREATE INDEX runs_by_agents_of_user ON runs (project_id, environment, external_id, ok, started_at, id)
  WHERE agent IS NOT NULL;
CREATE INDEX runs_by_agents_of_app ON runs (project_id, environment, app, ok, started_at, id) WHERE agent IS NOT NULL;
-- service/domain/projects/activity.py
CREATE INDEX account_history_by_news ON account_history (project_id, environment, good, at, id);
CREATE INDEX account_history_of_user_by_news ON account_history (external_user_id, good, at, id);
CREATE INDEX account_history_of_app_by_news ON account_history (project_id, environment, app, good, at, id);
-- service/domain/agents/approvals.py
CREATE INDEX agent_approvals_of_place ON agent_approvals (project_id, environment, state, created_at, id);
CREATE INDEX agent_approvals_of_user_by_state ON agent_approvals (external_user_id, state, created_at, id);
CREATE INDEX agent_approvals_of_app ON agent_approvals (project_id, environment, app, state, created_at, id);
-- service/domain/access/api_calls.py: calls of the API by clients and Connect tokens, without what may be secret
CREATE TABLE api_calls (
  id TEXT NOT NULL PRIMARY KEY,       -- grows with time
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  external_id TEXT,                   -- the developer's id of the user whom it was about
  caller_kind TEXT NOT NULL,          -- 'client', 'user' (by a Connect token) or 'person' (in the dashboard)
  caller TEXT NOT NULL,
  method TEXT NOT NULL,
  address TEXT NOT NULL,              -- path and query, without tokens and texts
  body TEXT,                          -- JSON object: ids, numbers and booleans; … stands for the rest
  status INTEGER NOT NULL,
  ok INTEGER NOT NULL,
  error TEXT,                         -- the sentence of the answer, if it failed
  request_id TEXT NOT NULL,
  took_ms BIGINT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX api_calls_of_place ON api_calls (project_id, environment, ok, at, id);
CREATE INDEX api_calls_of_user ON api_calls (project_id, environment, external_id, ok, at, id);
CREATE INDEX api_calls_by_age ON api_calls (at);
