-- service/domain/access/connect_tokens.py: the connect attempt by which the token's link was used up
ALTER TABLE connect_tokens ADD COLUMN linked_by TEXT;
CREATE INDEX connect_attempts_of_token ON connect_attempts (token_hash, status);
