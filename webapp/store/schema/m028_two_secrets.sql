-- service/domain/access/oauth_clients.py: the secret before the present one while both work, and when a client called last
ALTER TABLE oauth_clients ADD COLUMN old_secret_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE oauth_clients ADD COLUMN old_secret_ends_at BIGINT;
ALTER TABLE oauth_clients ADD COLUMN last_used_at BIGINT;
