-- service/domain/triggers/subscriptions.py: subscriptions of triggers at their apps, which expire, and when they are renewed
CREATE TABLE subscriptions (
  trigger_id TEXT NOT NULL PRIMARY KEY REFERENCES deployed_triggers (id) ON DELETE CASCADE,
  renew_at BIGINT NOT NULL,           -- also a lease: who renews it puts this off first
  ends_at BIGINT,                     -- null while none stands
  failures BIGINT NOT NULL,           -- in a row
  error TEXT                          -- why the last renewal failed
);
CREATE INDEX subscriptions_due ON subscriptions (renew_at);
