-- indexes: each list and count finds its rows by one of them, in order, however long the table is
DROP INDEX accounts_of_client;
CREATE INDEX accounts_of_client ON accounts (project_id, environment, oauth_app_id, created_at, id) WHERE oauth_app_id IS NOT NULL;
CREATE INDEX accounts_by_client ON accounts (oauth_app_id) WHERE oauth_app_id IS NOT NULL;
CREATE INDEX external_users_of_place ON external_users (project_id, environment, created_at, id);
DROP INDEX deployed_triggers_of_user;
CREATE INDEX deployed_triggers_of_user ON deployed_triggers (external_user_id, created_at, id);
CREATE INDEX deployed_triggers_in_order ON deployed_triggers (project_id, environment, created_at, id);
CREATE INDEX deployed_triggers_of_app ON deployed_triggers (project_id, environment, app, created_at, id);
CREATE INDEX account_history_of_app ON account_history (project_id, environment, app, at, id);
CREATE INDEX account_history_of_kind ON account_history (project_id, environment, kind, at, id);
CREATE INDEX account_history_of_trigger ON account_history (trigger_id, at, id) WHERE trigger_id IS NOT NULL;
CREATE INDEX runs_of_key ON runs (project_id, environment, component_key, started_at, id);
CREATE INDEX runs_of_component ON runs (project_id, environment, component_id, started_at, id);
CREATE INDEX runs_of_app ON runs (project_id, environment, app, started_at, id);
CREATE INDEX runs_by_result ON runs (project_id, environment, ok, started_at, id);
CREATE INDEX audit_of_subject ON audit (subject_id, at, id);
CREATE INDEX audit_of_actor ON audit (actor, at, id);
CREATE INDEX audit_of_noun ON audit (project_id, environment, noun, at, id);
