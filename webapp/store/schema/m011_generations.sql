-- service/domain/base/generations.py: the lives of processes that have the database open
CREATE TABLE generations (
  n BIGINT NOT NULL PRIMARY KEY,
  began_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL             -- its last heartbeat, where no lock on the folder tells
);
-- which generation holds a lease or a lock; null when nobody does. A dead one's are taken over at once
ALTER TABLE deliveries ADD COLUMN holder BIGINT;
ALTER TABLE trigger_inbox ADD COLUMN holder BIGINT;
ALTER TABLE deployed_triggers ADD COLUMN holder BIGINT;
ALTER TABLE accounts ADD COLUMN checked_by BIGINT;
ALTER TABLE connect_attempts ADD COLUMN claimed_by BIGINT;
CREATE INDEX trigger_inbox_held ON trigger_inbox (holder) WHERE holder IS NOT NULL;
CREATE INDEX deployed_triggers_held ON deployed_triggers (holder) WHERE holder IS NOT NULL;
CREATE INDEX accounts_leased ON accounts (lease_holder) WHERE lease_holder IS NOT NULL;
CREATE INDEX accounts_in_check ON accounts (checked_by) WHERE checked_by IS NOT NULL;
CREATE INDEX connect_attempts_claimed ON connect_attempts (claimed_by) WHERE claimed_by IS NOT NULL;
