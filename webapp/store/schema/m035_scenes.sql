-- people/sessions.py: the project and environment that a signed-in browser works in; empty for the dashboard's own
ALTER TABLE sessions ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN environment TEXT NOT NULL DEFAULT '';
