"""The description of the API and its reference page: whole, valid, and with examples that run."""

import gzip
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from pydantic import TypeAdapter, ValidationError

from tests.fakes.workspace import Workspace, workspace
from webapp.kit import assets
from webapp.service.api.base.models import NoContent, RawContent
from webapp.service.api.base.operations import Operation
from webapp.service.api.reference import openapi
from webapp.service.api.reference import page as reference
from webapp.service.api.reference.commands import VARIABLES, curl
from webapp.service.api.reference.common import SCOPES, STATUSES
from webapp.service.api.table import OPERATIONS

BODIES = {"create_access_token", "proxy_post", "proxy_put", "proxy_patch", "proxy_delete"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(openapi.document(OPERATIONS, "http://localhost:8600")))
    return found


def test_every_operation_says_what_it_answers_and_how_to_call_it() -> None:
    """An answer is required of each; what its example names, an installation must have."""
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    for one in OPERATIONS:
        assert one.summary.endswith("."), one.name
        named = set(re.findall(r"\$(\w+)", curl(one))) - {"PATCHBAY", "summary"}
        assert named <= set(VARIABLES), one.name
        assert bool(one.body) <= (one.example.body is not None), one.name


def test_every_operation_parameter_error_and_scope_is_described(document: dict[str, Any]) -> None:
    for one in OPERATIONS:
        found = document["paths"][one.address][one.method.lower()]
        assert found["operationId"] == one.name and found["summary"] and found["tags"]
        assert found["description"].endswith("."), one.name
        given = {(parameter["in"], parameter["name"]) for parameter in found["parameters"]}
        assert {("path", name) for name in re.findall(r"{(\w+)}", one.address)} <= given
        assert {("query", name) for name in (one.query.names if one.query else ())} <= given
        assert (("header", "x-pd-environment") in given) is one.in_project
        scopes = [scope for way in found["security"] for scope in way.get("oauth", ())]
        assert tuple(scopes) == one.scopes
        assert {"429", "500"} <= set(found["responses"])
        assert ("requestBody" in found) is bool(one.body or one.name in BODIES)


def test_every_parameter_and_field_says_what_it_means(document: dict[str, Any]) -> None:
    """A new one says so where it is declared: on its model's field, or beside the operations whose path it is in."""
    silent = [tag["name"] for tag in document["tags"] if not tag["description"].endswith(".")]
    for one in OPERATIONS:
        found = document["paths"][one.address][one.method.lower()]
        silent += [f"{one.name}.{given['name']}" for given in found["parameters"] if not given["description"]]
        if one.body:
            fields = document["components"]["schemas"][one.body.__name__]["properties"]
            silent += [f"{one.body.__name__}.{name}" for name, field in fields.items() if not field.get("description")]
    assert silent == []


def test_every_answer_has_a_sample_that_its_model_admits(document: dict[str, Any]) -> None:
    for one in OPERATIONS:
        if not isinstance(one.answer, NoContent | RawContent):
            found = document["paths"][one.address][one.method.lower()]["responses"]["200"]
            shown = found["content"]["application/json"]["example"]
            assert shown not in ({}, []) and list(_misfits(one.answer, json.dumps(shown).encode())) == []


def test_an_owner_is_required_of_servers(document: dict[str, Any]) -> None:
    """Contract "Updating", "Trigger webhooks": a Connect token says by itself whose the trigger is."""
    for path, methods in document["paths"].items():
        for found in methods.values():
            if "{trigger_id}" in path or "/proxy/" in path:
                (owner,) = (one for one in found["parameters"] if one["name"] == "external_user_id")
                assert owner["required"] and "Connect token" in owner["description"]


def test_references_lead_somewhere_and_nothing_is_left_over(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    used = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert used == set(document["components"]["schemas"])
    assert set(re.findall(r'"#/components/responses/([^"]+)"', text)) <= set(document["components"]["responses"])


def test_it_is_served_with_a_page_that_runs_nothing(service: Any) -> None:
    app = Flask("docs", template_folder=str(assets.templates_dir()), static_folder=str(assets.static_dir()))
    reference.register(app, service, OPERATIONS)
    http = app.test_client()
    described = http.get("/openapi.json")
    assert described.mimetype == "application/json"
    assert (described.json or {})["openapi"] == "3.1.0"
    page = http.get("/docs/api")
    assert page.status_code == 200 and "script-src" not in page.headers["Content-Security-Policy"]
    packed = http.get("/docs/api", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.data) == page.data and len(packed.data) < 60_000
    assert packed.headers["Vary"] == page.headers["Vary"] == "Accept-Encoding"
    assert "<script" not in page.text and "style=" not in page.text
    for one in OPERATIONS:
        assert f'id="{one.name}"' in page.text
    for model in (*STATUSES, *SCOPES):
        assert f"<code>{model}</code>" in page.text


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with workspace(tmp_path_factory.mktemp("examples") / "data") as found:
        yield found


def _order(one: Operation) -> int:
    return 1 if one.name.startswith("delete_") else 0


@pytest.mark.faults
def test_every_example_runs_and_answers_what_is_described(made: Workspace, tmp_path: Path) -> None:
    """As the page prints them, in a real shell, against the served product."""
    problems = []
    for one in sorted(OPERATIONS, key=_order):
        command = curl(one).replace("curl", "curl -sS -o answer -w '%{http_code}'", 1)
        done = subprocess.run(
            ["bash", "-euc", command], env={**os.environ, **made.names}, cwd=tmp_path,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        body = (tmp_path / "answer").read_bytes() if (tmp_path / "answer").exists() else b""
        (tmp_path / "answer").unlink(missing_ok=True)
        problems += [f"{one.name}: {problem}" for problem in _problems(one, int(done.stdout), body)]
    assert problems == []


def _problems(one: Operation, status: int, body: bytes) -> Iterator[str]:
    answer = one.answer
    if isinstance(answer, NoContent):
        if (status, body) != (204, b""):
            yield f"{status} {body[:300]!r}"
    elif isinstance(answer, RawContent):
        if not 200 <= status < 300 and one.name != "proxy_put":  # the sandbox has nothing to put
            yield f"{status} {body[:300]!r}"
    elif status != 200:
        yield f"{status} {body[:300]!r}"
    else:
        yield from _misfits(answer, body)


def _misfits(answer: Any, body: bytes) -> Iterator[str]:
    try:
        TypeAdapter(answer).validate_json(body)
    except ValidationError as error:
        yield str(error)
