-- demo.py: how often each demo link was opened, and what was done by it, until a row goes a day after the last use
CREATE TABLE demo_link_uses (
  link TEXT NOT NULL,                 -- the id in the link
  kind TEXT NOT NULL,                 -- 'opening', 'form' or 'run'
  minute BIGINT NOT NULL,             -- the minute of the last use, in minutes since 1970
  in_minute INTEGER NOT NULL,
  total INTEGER NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (link, kind)
);
-- dashboard/portal/sessions.py: a session of a demo link, by the id in the link, shows only the form of one component, by
-- its key. Both are empty for every other session.
ALTER TABLE portal_sessions ADD COLUMN demo_link TEXT NOT NULL DEFAULT '';
ALTER TABLE portal_sessions ADD COLUMN component TEXT NOT NULL DEFAULT '';
