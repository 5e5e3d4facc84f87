-- service/domain/triggers/event_listeners.py: which triggers receive the events that come to an OAuth client's address
CREATE TABLE app_hooks (
  trigger_id TEXT PRIMARY KEY REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  oauth_app_id TEXT NOT NULL REFERENCES provider_clients (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL,
  account_key TEXT NOT NULL,          -- what the provider calls the account's team, portal or workspace
  person TEXT NOT NULL,               -- whose it is there; '' where that is not told
  event_names TEXT NOT NULL           -- JSON array; empty for all
);
CREATE INDEX app_hooks_of_account ON app_hooks (oauth_app_id, account_key);

-- service/domain/triggers/app_events.py: events that were received, so that none is stored twice
CREATE TABLE app_events (
  oauth_app_id TEXT NOT NULL REFERENCES provider_clients (id) ON DELETE CASCADE,
  event_hash TEXT NOT NULL,
  received_at BIGINT NOT NULL,
  PRIMARY KEY (oauth_app_id, event_hash)
);
CREATE INDEX app_events_received ON app_events (received_at);

-- service/domain/accounts/oauth_apps.py: the secret that signs the client's events
ALTER TABLE provider_clients ADD COLUMN events_sealed BLOB;
