-- service/domain/deliveries/events.py: of a request that came for a trigger, how long its JSON is, how many bytes are
-- kept of it, and whether its body stands in parts
ALTER TABLE events ADD COLUMN size BIGINT;
ALTER TABLE events ADD COLUMN kept BIGINT NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN in_parts INTEGER NOT NULL DEFAULT 0;
-- service/domain/triggers/inbox.py: the same of a request that waits for its run
ALTER TABLE trigger_inbox ADD COLUMN kept BIGINT NOT NULL DEFAULT 0;
ALTER TABLE trigger_inbox ADD COLUMN in_parts INTEGER NOT NULL DEFAULT 0;
-- service/domain/deliveries/events.py: large bodies of requests
CREATE TABLE body_parts (
  id TEXT NOT NULL PRIMARY KEY,       -- <event or request>.<number>
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  event_id TEXT REFERENCES events (id) ON DELETE CASCADE,
  request_id TEXT REFERENCES trigger_inbox (id) ON DELETE CASCADE,
  part_sealed BLOB NOT NULL
);
CREATE INDEX body_parts_of_event ON body_parts (event_id, id) WHERE event_id IS NOT NULL;
CREATE INDEX body_parts_of_request ON body_parts (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX body_parts_of_project ON body_parts (project_id);
