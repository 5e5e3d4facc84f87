-- service/domain/access/oauth_clients.py: a client's public key as a JWK; '' without one
ALTER TABLE oauth_clients ADD COLUMN public_key TEXT NOT NULL DEFAULT '';
