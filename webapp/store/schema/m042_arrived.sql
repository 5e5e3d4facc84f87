-- service/domain/deliveries/stats.py: the last delivery to an endpoint, of any trigger or notification
CREATE INDEX deliveries_arrived ON deliveries (endpoint_id, last_at) WHERE status = 'delivered';
