"""Requests are counted and logged by route, never by address; ``/metrics`` exists for who holds its token."""

import itertools
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client import values
from prometheus_client.parser import text_string_to_metric_families

from webapp import telemetry
from webapp.app import create_app
from webapp.dashboard.client.in_process import InProcess
from webapp.kit import heartbeat
from webapp.kit.crypto import begin_request, end_request, request_id
from webapp.manual.files import FILES
from webapp.quotas import REFUSALS
from webapp.service.api.table import OPERATIONS
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

TOKEN = "m" * 20
Start = Callable[..., FlaskClient]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One data folder for all of these tests: the catalog in it takes a second to build."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def start(data: Path) -> Iterator[Start]:
    """Serves the whole application with the settings that are given."""
    opened = []

    def begin(**env: str) -> FlaskClient:
        settings = Settings.from_env({f"PATCHBAY_{name}": value for name, value in env.items()}, data=data)
        opened.append(open_service(settings))
        return create_app(settings, service=opened[-1]).test_client()

    yield begin
    for service in opened:
        close_service(service)


def ask(client: FlaskClient, path: str, **headers: str) -> Any:
    return client.get(path, base_url="http://localhost:8600", headers=headers)


def test_metrics_count_by_route_for_who_holds_the_token(start: Start) -> None:
    client = start(METRICS_TOKEN=TOKEN)
    assert ask(client, "/v1/connect/tokens/ctok_canary/validate").status_code == 200
    assert ask(client, "/metrics").status_code == 401
    assert ask(client, "/metrics", Authorization=f"Bearer {TOKEN}x").status_code == 401
    told = ask(client, "/metrics", Authorization=f"Bearer {TOKEN}")
    assert told.status_code == 200
    assert 'patchbay_requests_total{method="GET",route="api.validate_token",status="200"} 1.0' in told.text
    assert 'patchbay_request_seconds_count{route="api.validate_token"} 1.0' in told.text
    assert "patchbay_deliveries_waiting 0.0" in told.text
    assert 'patchbay_refusals_total{quota="user_runs"}' in told.text
    assert "canary" not in told.text and TOKEN not in told.text


def expressions() -> Iterator[tuple[str, str]]:
    """What each alert and each panel of the dashboard asks for (install "Files to copy")."""
    (group,) = yaml.safe_load(FILES["alerts.yml"].read())["groups"]
    for rule in group["rules"]:
        yield rule["alert"], rule["expr"]
    for panel in json.loads(FILES["dashboard.json"].read())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


@pytest.mark.embedded
def test_what_alerts_and_dashboard_ask_for_is_measured_and_all_of_it_is_shown(start: Start) -> None:
    client = start(METRICS_TOKEN=TOKEN)
    shown = [ask(client, "/metrics", Authorization=f"Bearer {TOKEN}").text for _ in range(2)][-1]
    families = list(text_string_to_metric_families(shown))
    labels = {sample.name: {*sample.labels, "le"} for family in families for sample in family.samples}
    for name, expression in expressions():
        metrics = re.findall(r"\bpatchbay_\w+", expression)
        asked_for = {*re.findall(r'(\w+)[!=]~?"', expression), *re.findall(r"by \((\w+)\)", expression)}
        assert (metrics or expression == 'up{job="patchbay"} == 0') and set(metrics) <= set(labels), name
        assert all(asked_for <= labels[metric] for metric in metrics), name
    states = {sample.labels["state"] for family in families for sample in family.samples if "state" in sample.labels}
    whole = " ".join(expression for _, expression in expressions())
    assert set(re.findall(r'state="(\w+)"', whole)) <= states
    measured = {family.name for family in families if not family.name.endswith("_created")}
    assert {name for name in measured if name not in whole} == set()


def test_routes_that_an_alert_leaves_out_exist() -> None:
    slow = dict(expressions())["PatchbaySlow"]
    (pattern,) = re.findall(r'route!~"([^"]+)"', slow)
    names = {f"api.{operation.name}" for operation in OPERATIONS if re.fullmatch(pattern, f"api.{operation.name}")}
    assert {"api.run_action", "api.configure_trigger", "api.reload_action_props", "api.proxy_get"} <= names
    assert "api.create_token" not in names and "api.list_accounts" not in names


def test_counts_of_several_web_processes_are_summed_by_each(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(telemetry.FOLDER, str(tmp_path))
    clients = []
    for process in (1, 2):
        value = values.MultiProcessValue(lambda process=process: process)  # type: ignore[no-untyped-call]
        monkeypatch.setattr(values, "ValueClass", value)
        clients.append(start(METRICS_TOKEN=TOKEN, WEB="2"))
        ask(clients[-1], "/healthz")
    before = counted(clients[0])
    REFUSALS.add("USER_RUNS", 1)  # by the second
    for client in clients:
        assert counted(client)["requests"] == 2
        assert counted(client)["seconds"] == 2
        assert counted(client)["refusals"] == before["refusals"] + 1


def counted(client: FlaskClient) -> dict[str, float]:
    shown = ask(client, "/metrics", Authorization=f"Bearer {TOKEN}").text
    samples = [sample for family in text_string_to_metric_families(shown) for sample in family.samples]

    def total(name: str, **labels: str) -> float:
        found = (sample for sample in samples if sample.name == name and labels.items() <= sample.labels.items())
        return sum(sample.value for sample in found)

    return {
        "requests": total("patchbay_requests_total", route="healthz"),
        "seconds": total("patchbay_request_seconds_count", route="healthz"),
        "refusals": total("patchbay_refusals_total", quota="user_runs"),
    }


def test_there_are_no_metrics_without_a_token(start: Start) -> None:
    assert ask(start(), "/metrics").status_code == 404


def test_the_access_log_names_routes_and_never_addresses(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "patchbay.requests")
    answer = ask(start(ACCESS_LOG="on"), "/v1/connect/tokens/ctok_canary/validate?app=canary")
    (line,) = caplog.records
    assert line.getMessage().startswith("GET api.validate_token 200 in ")
    assert "canary" not in line.getMessage()
    assert len(answer.headers["X-Request-Id"]) == 16


def test_a_page_takes_the_time_of_the_calls_that_it_makes_too(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, ticks = Flask("telemetry"), itertools.count()
    telemetry.register(app, Settings.from_env({"PATCHBAY_ACCESS_LOG": "on"}), Mock())
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks) / 1000)
    ids = list[str]()

    @app.get("/called")
    def called() -> str:
        ids.append(request_id())
        return ""

    @app.get("/page")
    def page() -> str:
        for _ in range(2):
            assert InProcess(app.wsgi_app).send("GET", "http://localhost/called", {}, b"", 1).status == 200
        ids.append(request_id())
        return ""

    with caplog.at_level(logging.INFO, "patchbay.requests"):
        assert app.test_client().get("/page").headers["X-Request-Id"] == ids[0]
    assert [vars(record)["took_ms"] for record in caplog.records] == [1.0, 1.0, 5.0]
    assert len(set(ids)) == 1 and request_id() == ""


def test_no_line_is_logged_unless_asked_for(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "patchbay.requests")
    first, second = (ask(start_one, "/healthz").headers["X-Request-Id"] for start_one in [start()] * 2)
    assert first != second
    assert caplog.records == []


def test_readyz_tells_of_the_store_and_the_worker(start: Start, data: Path) -> None:
    client = start()
    (data / heartbeat.WORKER).unlink(missing_ok=True)
    assert ask(client, "/readyz").json == {"status": "ok", "worker": "not seen"}
    heartbeat.beat(data / heartbeat.WORKER)
    assert ask(client, "/readyz").json == {"status": "ok", "worker": "ok"}
    os.utime(data / heartbeat.WORKER, (0, 0))
    assert ask(client, "/readyz").json["worker"] == "not seen"


def test_readyz_tells_whoever_spreads_requests_that_the_service_stops(start: Start) -> None:
    stopping = [False]
    service = start().application.extensions["patchbay"]
    client = create_app(service.settings, service=service, stopping=lambda: stopping[0]).test_client()
    assert ask(client, "/readyz").status_code == 200
    stopping[0] = True
    answer = ask(client, "/readyz")
    assert (answer.status_code, answer.json["status"]) == (503, "stopping")
    assert ask(client, "/healthz").status_code == 200


def test_an_id_that_was_left_behind_is_not_taken_over(start: Start) -> None:
    client = start()
    left = begin_request()
    try:
        ids = {ask(client, "/v1/nothing").headers["X-Request-Id"] for _ in range(2)}
        assert len(ids) == 2 and request_id() not in ids
    finally:
        end_request(left)
