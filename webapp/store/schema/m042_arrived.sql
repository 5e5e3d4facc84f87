-- service/domain/deliveries/stats.py: what arrived at an endpoint last, whatever trigger or notification it came from
CREATE INDEX deliveries_arrived ON deliveries (endpoint_id, last_at) WHERE status = 'delivered';
