-- service/domain/agents/bearers.py: Connect tokens that agents have sent, which answer and widen nothing
CREATE TABLE agent_bearers (
  token_hash TEXT NOT NULL PRIMARY KEY,  -- SHA-256
  noted_at BIGINT NOT NULL
);
CREATE INDEX agent_bearers_by_age ON agent_bearers (noted_at);
