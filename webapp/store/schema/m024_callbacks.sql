-- service/domain/accounts/oauth_apps.py: the end of its redirect URI; empty for the one that all shared before
ALTER TABLE provider_clients ADD COLUMN callback TEXT NOT NULL DEFAULT '';
