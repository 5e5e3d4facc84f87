"""The telemetry of the web process: request ids, a log line for each request, and ``/metrics`` for Prometheus.

Requests are identified by their route, never by their URL, which may contain a token. ``/metrics`` exists only with
``PATCHBAY_METRICS_TOKEN``, and requires it as a bearer token.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator

from flask import Flask, Response, abort, request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from webapp.errors import PatchbayError
from webapp.kit import assets, crypto
from webapp.kit.clock import SECOND
from webapp.kit.crypto import same
from webapp.quotas import REFUSALS
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import gauges
from webapp.settings import Settings

BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
UNKNOWN = "none"
_BEGUN = "patchbay.begun"  # in the environ, since a page shares its ``g`` with the calls that it makes in process
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
Observe = Callable[[str, int, float], None]  # route, status, seconds
log = logging.getLogger("patchbay.requests")


def register(app: Flask, settings: Settings, service: Service) -> None:
    """Give every request an id, and log and measure it as the settings say."""
    observe = _observer(app, settings, service)

    @app.before_request
    def begin() -> None:
        shared = request.environ.get(crypto.REQUEST_ENVIRON)
        request.environ[_BEGUN] = crypto.begin_request(shared), time.perf_counter()

    @app.after_request
    def done(response: Response) -> Response:
        if response.headers.get("Cache-Control") != assets.IMMUTABLE:  # a copy would show the id for a year
            response.headers.setdefault("X-Request-Id", crypto.request_id())
        observe(request.endpoint or UNKNOWN, response.status_code, time.perf_counter() - request.environ[_BEGUN][1])
        return response

    @app.teardown_request
    def end(_: BaseException | None) -> None:
        if begun := request.environ.pop(_BEGUN, None):
            crypto.end_request(begun[0])


def _observer(app: Flask, settings: Settings, service: Service) -> Observe:
    """A function that logs and measures each response. Adds the route ``/metrics`` if it is enabled."""
    watchers: list[Observe] = [_logged] if settings.access_log else []
    if settings.metrics_token:
        watchers.append(_measured(app, settings.metrics_token, service))

    def observe(route: str, status: int, seconds: float) -> None:
        for watcher in watchers:
            watcher(route, status, seconds)

    return observe


def _logged(route: str, status: int, seconds: float) -> None:
    took = round(seconds * SECOND, 1)
    fields = {"route": route, "method": request.method, "status": status, "took_ms": took}
    log.info("%s %s %s in %s ms", request.method, route, status, took, extra=fields)


def _measured(app: Flask, token: str, service: Service) -> Observe:
    """Add ``/metrics``, for this process or all that share the folder :data:`FOLDER` (``cli/serving/serve.py``)."""
    registry = own = CollectorRegistry()
    if folder := os.environ.get(FOLDER):
        own = CollectorRegistry()
        MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    labels = ("route", "method", "status")
    answered = Counter("patchbay_requests", "Requests that were answered.", labels, registry=own)
    took = Histogram("patchbay_request_seconds", "How long they took.", ("route",), registry=own, buckets=BUCKETS)
    refused = Counter("patchbay_refusals", "What quotas refused.", ("quota",), registry=own)
    for name, before in REFUSALS.counts().items():
        refused.labels(name).inc(before)
    REFUSALS.watch = lambda name: refused.labels(name).inc()
    registry.register(_Rows(service))

    @app.get("/metrics")
    def metrics() -> Response:
        kind, _, credential = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or not same(credential.strip(), token):
            abort(401)
        return Response(generate_latest(registry), content_type="text/plain; version=0.0.4; charset=utf-8")

    def count(route: str, status: int, seconds: float) -> None:
        answered.labels(route, request.method if request.method in METHODS else "other", status).inc()
        took.labels(route).observe(seconds)

    return count


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _Rows(Collector):
    """Gauges of the store, read for each scrape, and left out while the store is unavailable."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The gauges of :mod:`webapp.service.domain.instance.gauges`."""
        try:
            readings = gauges.read(self._service)
        except PatchbayError:
            readings = ()
        for gauge in readings:
            labels = [gauge.label] if gauge.label else []
            family = GaugeMetricFamily(f"patchbay_{gauge.name}", gauge.help, labels=labels)
            for key, value in gauge.values.items():
                family.add_metric([key] if gauge.label else [], value)
            yield family
