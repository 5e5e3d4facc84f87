-- The logs (service/domain/logs/): also what is rare among the many rows of one user or trigger is found in order.
-- service/domain/components/runs.py: those of one user by app and by component, in all versions and in one
CREATE INDEX runs_by_people_of_user_and_app ON runs
  (project_id, environment, external_id, app, ok, started_at, id) WHERE agent IS NULL;
CREATE INDEX runs_by_people_of_user_and_key ON runs
  (project_id, environment, external_id, component_key, ok, started_at, id) WHERE agent IS NULL;
CREATE INDEX runs_by_people_of_user_and_component ON runs
  (project_id, environment, external_id, component_id, ok, started_at, id) WHERE agent IS NULL;
CREATE INDEX runs_by_agents_of_user_and_app ON runs
  (project_id, environment, external_id, app, ok, started_at, id) WHERE agent IS NOT NULL;
CREATE INDEX runs_by_agents_of_user_and_key ON runs
  (project_id, environment, external_id, component_key, ok, started_at, id) WHERE agent IS NOT NULL;
CREATE INDEX runs_by_agents_of_user_and_component ON runs
  (project_id, environment, external_id, component_id, ok, started_at, id) WHERE agent IS NOT NULL;
-- service/domain/triggers/runs.py: those of one trigger that failed
CREATE INDEX trigger_runs_of_trigger_that_failed ON trigger_runs (trigger_id, at, id) WHERE ok = 0;
