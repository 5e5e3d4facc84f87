-- service/domain/triggers/pending_changes.py: changes of a trigger that are under way at its provider; deleted when they are complete
CREATE TABLE trigger_plans (
  trigger_id TEXT NOT NULL PRIMARY KEY REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL,
  kind TEXT NOT NULL,                 -- 'change', 'delete', or 'farewell' if its account is disconnected
  phase TEXT NOT NULL,                -- 'unsubscribe', 'subscribe' or 'restore': what was begun last
  wish_sealed BLOB,                   -- JSON object: the change that was asked for
  began_at BIGINT NOT NULL
);
