-- service/domain/deliveries/endpoints.py: all that is put off waits for one time, so that it stays in its order;
-- draining is 1 while what was put off is let go, part by part
ALTER TABLE endpoints ADD COLUMN put_off_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE endpoints ADD COLUMN draining INTEGER NOT NULL DEFAULT 0;
