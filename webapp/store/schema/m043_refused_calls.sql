-- service/domain/access/refused_calls.py: calls beyond a rate limit, five minutes by five minutes, for a while
CREATE TABLE refused_calls (
  counted_under TEXT NOT NULL,        -- the limit, with its project and environment, or a custom limit
  at BIGINT NOT NULL,                 -- the first millisecond of the five minutes
  actor_kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  n BIGINT NOT NULL,
  PRIMARY KEY (counted_under, at, actor_kind, actor)
);
