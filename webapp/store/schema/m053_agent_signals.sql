-- service/domain/agents/request_signals.py: signals of a later request of an agent to the process that still answers an earlier one
CREATE TABLE agent_signals (
  name TEXT NOT NULL PRIMARY KEY,     -- keyed hash of the conversation and of what is answered or ended
  value TEXT NOT NULL,
  sent_at BIGINT NOT NULL
);
CREATE INDEX agent_signals_by_age ON agent_signals (sent_at);
