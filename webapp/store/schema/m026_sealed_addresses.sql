-- Addresses of webhooks are sealed. What stands here in the clear is sealed when the folder is opened, by the two modules
-- that write these tables.
ALTER TABLE endpoints RENAME COLUMN url TO masked_url;
ALTER TABLE endpoints ADD COLUMN url_sealed BLOB;
ALTER TABLE endpoints ADD COLUMN url_hash TEXT;
DROP INDEX endpoints_of_trigger;
DROP INDEX endpoints_of_project;
CREATE UNIQUE INDEX endpoints_of_trigger ON endpoints (trigger_id, url_hash) WHERE trigger_id IS NOT NULL;
CREATE INDEX endpoints_of_project ON endpoints (project_id, environment, owner, url_hash);
CREATE INDEX endpoints_in_the_clear ON endpoints (id) WHERE url_hash IS NULL;
ALTER TABLE connect_tokens ADD COLUMN webhook_uri_sealed BLOB;
CREATE INDEX connect_tokens_in_the_clear ON connect_tokens (token_hash) WHERE webhook_uri IS NOT NULL;
