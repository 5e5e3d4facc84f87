-- service/domain/projects/app_usage.py: what happened, by app and day
CREATE TABLE app_usage (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  day BIGINT NOT NULL,                -- its first millisecond, in UTC
  app TEXT NOT NULL,                  -- '' for what belongs to no app
  kind TEXT NOT NULL,                 -- 'run', 'failed_run', 'event' or 'failed_delivery'
  n BIGINT NOT NULL,
  PRIMARY KEY (project_id, environment, day, app, kind)
);
CREATE INDEX app_usage_by_day ON app_usage (day);
-- What is still stored was not counted when it happened.
INSERT INTO app_usage (project_id, environment, day, app, kind, n)
  SELECT project_id, environment, started_at / 86400000 * 86400000 AS day, COALESCE(app, '') AS slug, 'run', COUNT(*)
  FROM runs GROUP BY project_id, environment, started_at / 86400000 * 86400000, COALESCE(app, '');
INSERT INTO app_usage (project_id, environment, day, app, kind, n)
  SELECT project_id, environment, started_at / 86400000 * 86400000 AS day, COALESCE(app, '') AS slug, 'failed_run', COUNT(*)
  FROM runs WHERE state = 'ended' AND ok = 0
  GROUP BY project_id, environment, started_at / 86400000 * 86400000, COALESCE(app, '');
INSERT INTO app_usage (project_id, environment, day, app, kind, n)
  SELECT project_id, environment, at / 86400000 * 86400000 AS day, COALESCE(app, '') AS slug, 'event', COUNT(*)
  FROM events WHERE trigger_id IS NOT NULL
  GROUP BY project_id, environment, at / 86400000 * 86400000, COALESCE(app, '');
