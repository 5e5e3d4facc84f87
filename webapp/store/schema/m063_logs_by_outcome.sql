-- The logs (service/domain/logs/): an index in the order of the list for each combination of filters.
-- service/domain/components/runs.py: those of a component, in all versions and in one
CREATE INDEX runs_by_people_of_key ON runs (project_id, environment, component_key, ok, started_at, id)
  WHERE agent IS NULL;
CREATE INDEX runs_by_people_of_component ON runs (project_id, environment, component_id, ok, started_at, id)
  WHERE agent IS NULL;
CREATE INDEX runs_by_agents_of_key ON runs (project_id, environment, component_key, ok, started_at, id)
  WHERE agent IS NOT NULL;
CREATE INDEX runs_by_agents_of_component ON runs (project_id, environment, component_id, ok, started_at, id)
  WHERE agent IS NOT NULL;
-- service/domain/access/api_calls.py: those that a user made, which may be few of those about the user
CREATE INDEX api_calls_by_user ON api_calls (project_id, environment, external_id, ok, at, id)
  WHERE caller_kind <> 'client';
-- service/domain/triggers/runs.py, deliveries/events.py and deliveries.py: of one user and app
CREATE INDEX trigger_runs_of_user_and_app ON trigger_runs (external_user_id, app, ok, at, id)
  WHERE ok = 0 OR emitted > 0 OR cause <> 'timer';
CREATE INDEX events_of_user_and_app ON events (external_user_id, app, at, id) WHERE external_user_id IS NOT NULL;
CREATE INDEX deliveries_of_user_and_app ON deliveries (external_user_id, app, status, created_at, id)
  WHERE external_user_id IS NOT NULL;
-- service/domain/projects/activity.py: the outcome leads, so that the others stay the only ones without it
CREATE INDEX account_history_of_account_by_outcome ON account_history (good, account_id, at, id);
CREATE INDEX account_history_of_trigger_by_outcome ON account_history (good, trigger_id, at, id)
  WHERE trigger_id IS NOT NULL;
CREATE INDEX account_history_of_user_and_app ON account_history (external_user_id, app, at, id);
CREATE INDEX account_history_of_user_and_app_by_outcome ON account_history (good, external_user_id, app, at, id);
-- service/domain/agents/approvals.py: whatever became of them
CREATE INDEX agent_approvals_in_order ON agent_approvals (project_id, environment, created_at, id);
CREATE INDEX agent_approvals_of_app_in_order ON agent_approvals (project_id, environment, app, created_at, id);
CREATE INDEX agent_approvals_of_user_and_app ON agent_approvals (external_user_id, app, state, created_at, id);
CREATE INDEX agent_approvals_of_user_and_app_in_order ON agent_approvals (external_user_id, app, created_at, id);
