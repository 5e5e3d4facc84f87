-- service/domain/agents/sessions.py: Connect tokens that agents have sent, with which nobody may answer or widen a permission
CREATE TABLE agent_bearers (
  token_hash TEXT NOT NULL PRIMARY KEY,  -- SHA-256
  noted_at BIGINT NOT NULL
);
CREATE INDEX agent_bearers_by_age ON agent_bearers (noted_at);
