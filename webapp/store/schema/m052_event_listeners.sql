-- service/domain/triggers/event_listeners.py: an account may be several to its provider, such as one for each installation
CREATE TABLE event_listeners (
  trigger_id TEXT NOT NULL REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  account_key TEXT NOT NULL,          -- what the provider calls the account's team, portal, workspace or installation
  account_id TEXT NOT NULL,
  person TEXT NOT NULL,               -- whose it is there; '' where that is not told
  event_names TEXT NOT NULL,          -- JSON array; empty for all
  asked_at BIGINT,                    -- when the provider was last asked for the keys; NULL where they never change
  PRIMARY KEY (trigger_id, account_key)
);
INSERT INTO event_listeners (trigger_id, account_key, account_id, person, event_names)
  SELECT trigger_id, account_key, account_id, person, event_names FROM event_hooks;
DROP INDEX event_hooks_of_account;
DROP TABLE event_hooks;
CREATE INDEX event_listeners_of_account ON event_listeners (account_key);
CREATE INDEX event_listeners_asked ON event_listeners (asked_at) WHERE asked_at IS NOT NULL;
