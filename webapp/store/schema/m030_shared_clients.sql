-- service/domain/accounts/oauth_apps.py: the client whose id and secret this one uses, at the same provider
ALTER TABLE provider_clients ADD COLUMN shares TEXT REFERENCES provider_clients (id);
CREATE INDEX provider_clients_sharing ON provider_clients (shares) WHERE shares IS NOT NULL;
