-- service/domain/triggers/event_listeners.py: which triggers receive the events of their account's OAuth client, whichever it is now
CREATE TABLE event_hooks (
  trigger_id TEXT PRIMARY KEY REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL,
  account_key TEXT NOT NULL,          -- what the provider calls the account's team, portal or workspace
  person TEXT NOT NULL,               -- whose it is there; '' where that is not told
  event_names TEXT NOT NULL           -- JSON array; empty for all
);
INSERT INTO event_hooks (trigger_id, account_id, account_key, person, event_names)
  SELECT trigger_id, account_id, account_key, person, event_names FROM app_hooks;
DROP INDEX app_hooks_of_account;
DROP TABLE app_hooks;
CREATE INDEX event_hooks_of_account ON event_hooks (account_key);
