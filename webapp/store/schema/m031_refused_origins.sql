-- service/domain/access/refused_origins.py: pages that showed a Connect token which does not allow their origin
CREATE TABLE refused_origins (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  origin TEXT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (project_id, environment, origin)
);
