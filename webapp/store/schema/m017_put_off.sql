-- service/domain/deliveries/deliveries.py: what is due goes out in its order; what waits for its endpoint has no time
DROP INDEX deliveries_due_of_endpoint;
CREATE INDEX deliveries_due_of_endpoint ON deliveries (endpoint_id, next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_put_off ON deliveries (endpoint_id, id) WHERE next_at IS NULL AND status = 'waiting';
