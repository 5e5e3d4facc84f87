-- Connect attempts that nobody finished yet: those that wait for an answer of their person too.
DROP INDEX connect_attempts_under_way;
CREATE INDEX connect_attempts_under_way ON connect_attempts (expires_at)
  WHERE status IN ('started', 'asking', 'exchanging');
