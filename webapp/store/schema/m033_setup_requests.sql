-- people/setup_requests.py: who would like an app to be set up in a project, until it is
CREATE TABLE setup_requests (
  project_id TEXT NOT NULL,
  app TEXT NOT NULL,                  -- its slug
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (project_id, app, user_id)
);
CREATE INDEX setup_requests_of_user ON setup_requests (user_id);
