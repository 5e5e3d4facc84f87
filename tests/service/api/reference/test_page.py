"""The reference page of the API: whole, without scripts, and with examples that run as commands for a shell."""

import gzip
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.fakes.workspace import Workspace, workspace
from tests.service.api.reference.answers import misfits
from webapp.kit import assets
from webapp.service.api.base.models import NoContent, RawContent
from webapp.service.api.base.operations import Operation
from webapp.service.api.reference import page as reference
from webapp.service.api.reference.openapi import SCOPES, STATUSES
from webapp.service.api.reference.page import VARIABLES, curl
from webapp.service.api.table import OPERATIONS


def operation(name: str) -> Operation:
    return next(one for one in OPERATIONS if one.name == name)


def test_a_call_of_a_project_names_its_token_and_environment() -> None:
    assert curl(operation("delete_account")).splitlines() == [
        "curl -X DELETE \\",
        '  "$PATCHBAY/v1/connect/$PROJECT_ID/accounts/$OTHER_ACCOUNT_ID" \\',
        '  -H "Authorization: Bearer $TOKEN" \\',
        '  -H "x-pd-environment: development"',
    ]


def test_a_body_is_a_here_document_and_a_public_call_has_no_token() -> None:
    command = curl(operation("create_access_token"))
    assert "Authorization" not in command and "x-pd-environment" not in command
    assert command.endswith("\nJSON") and '"client_secret": "$CLIENT_SECRET"' in command


def test_a_query_is_quoted_but_for_names() -> None:
    assert "?s3_key=$S3_KEY" in curl(operation("download_file"))
    assert "url=https%3A%2F%2Fapp.example.com%2Fall" in curl(operation("create_webhook"))


def test_every_operation_says_what_it_answers_and_how_to_call_it() -> None:
    """An answer is required of each; what its example names, an installation must have."""
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    for one in OPERATIONS:
        assert one.summary.endswith("."), one.name
        named = set(re.findall(r"\$(\w+)", curl(one))) - {"PATCHBAY", "summary"}
        assert named <= set(VARIABLES), one.name
        assert bool(one.body) <= (one.example.body is not None), one.name


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
    assert gzip.decompress(packed.data) == page.data and len(packed.data) < 66_000
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
    return 1 if one.name.startswith(("delete_", "end_")) else 0


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
        yield from misfits(answer, body)
