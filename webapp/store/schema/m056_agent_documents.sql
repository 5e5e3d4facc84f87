-- people/agents/clients.py: agents that are known by the address of a document keep it for a while
ALTER TABLE agent_clients ADD COLUMN fresh_until BIGINT;  -- null for those that registered themselves
