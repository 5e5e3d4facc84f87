-- service/domain/components/runs.py: a run is written down before it begins: 'running', then 'ended', or 'unknown' where
-- its process died. The generation that runs it; null once it has ended
ALTER TABLE runs ADD COLUMN state TEXT NOT NULL DEFAULT 'ended';
ALTER TABLE runs ADD COLUMN holder BIGINT;
CREATE INDEX runs_held ON runs (holder) WHERE holder IS NOT NULL;
