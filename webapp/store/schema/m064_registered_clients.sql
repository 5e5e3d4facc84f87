-- OAuth clients that registered themselves (service/domain/accounts/oauth_apps.py): where, and with which redirect URI
ALTER TABLE provider_clients ADD COLUMN registered_issuer TEXT;
ALTER TABLE provider_clients ADD COLUMN registered_uri TEXT NOT NULL DEFAULT '';
