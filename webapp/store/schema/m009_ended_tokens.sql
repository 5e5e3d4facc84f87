-- service/domain/access/connect_tokens.py: 1 once its time was over, so that a clock that is set back does not revive it
ALTER TABLE connect_tokens ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
CREATE INDEX connect_tokens_live ON connect_tokens (expires_at) WHERE ended = 0;
-- service/domain/access/oauth_clients.py: access tokens that were refused because they had expired, for the same reason
CREATE TABLE ended_access_tokens (
  token_hash TEXT NOT NULL PRIMARY KEY,
  ended_at BIGINT NOT NULL
);
CREATE INDEX ended_access_tokens_by_age ON ended_access_tokens (ended_at);
