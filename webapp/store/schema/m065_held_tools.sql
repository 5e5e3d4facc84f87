-- service/domain/components/held_tools.py: actions whose tool has changed since an owner looked at it
CREATE TABLE held_tools (
  component_key TEXT NOT NULL PRIMARY KEY,  -- of the action
  app TEXT NOT NULL,                        -- its slug
  at BIGINT NOT NULL                        -- when it was noticed first
);
CREATE INDEX held_tools_of_app ON held_tools (app, at);
