-- service/domain/accounts/events_secrets.py: secrets that providers sent without a signature, until their owner takes them
CREATE TABLE event_handshakes (
  oauth_app_id TEXT PRIMARY KEY REFERENCES provider_clients (id) ON DELETE CASCADE,
  project_id TEXT,
  secret_sealed BLOB NOT NULL,
  received_at BIGINT NOT NULL
);
