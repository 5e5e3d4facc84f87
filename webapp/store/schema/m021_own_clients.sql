-- service/domain/accounts/oauth_apps.py: whose own client it is, brought for accounts of that user alone
ALTER TABLE provider_clients ADD COLUMN external_user_id TEXT REFERENCES external_users (id) ON DELETE CASCADE;
CREATE INDEX provider_clients_of_user ON provider_clients (external_user_id) WHERE external_user_id IS NOT NULL;
