-- Connect attempts that nobody finished yet, which the worker looks through for those that are over.
CREATE INDEX connect_attempts_under_way ON connect_attempts (expires_at) WHERE status IN ('started', 'exchanging');
