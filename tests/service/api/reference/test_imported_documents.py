"""Large documents that others publish are imported whole, and so is our own."""

import os
import time
from pathlib import Path

import orjson
import pytest

from webapp.service.api.reference import openapi
from webapp.service.api.table import OPERATIONS
from webapp.service.catalog.importing import documents
from webapp.service.catalog.importing.files import Written, write
from webapp.service.catalog.importing.plans import plan
from webapp.service.catalog.importing.records import Options

PACKAGES = Path(__file__).parents[4] / "instance" / "node" / "node_modules"
README = "@readme/oas-examples"
PUBLIC = [
    # file in a package, way to sign in, operations, actions
    ("@figma/rest-api-spec/openapi/openapi.yaml", "PersonalAccessToken", 54, 46),
    ("@netlify/open-api/dist/swagger.json", "netlifyAuth", 181, 181),
    (f"{README}/3.1/json/readme.json", "bearer", 54, 54),
    (f"{README}/3.0/yaml/star-trek.yaml", "none", 120, 120),
]


def imported(content: bytes, data: Path, options: Options) -> Written:
    document = documents.read(content, "https://docs.acme.example/openapi.json")
    return write(plan(document, "acme", options), data, None, "acme.json", 0)


def content_of(name: str) -> bytes:
    file = PACKAGES / name
    if not file.is_file():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            f"{name} is missing; run `python -m webapp.frontend --tests`"
        )
    return file.read_bytes()


@pytest.mark.peer
@pytest.mark.parametrize(("name", "auth", "operations", "actions"), PUBLIC)
def test_a_public_document_is_imported_whole(
    name: str, auth: str, operations: int, actions: int, tmp_path: Path
) -> None:
    """Each operation is an action that the checks of components take, or is told with its reason."""
    written = imported(content_of(name), tmp_path, Options())
    made, left = written.plan.actions, written.plan.left
    assert written.plan.options.auth == auth
    assert len(written.plan.operations) == operations == len(made) + len(left)
    assert len(made) == actions
    assert all(each.reason for each in left)
    assert not [each for each in left if "cannot be written" in each.reason]


@pytest.mark.peer
def test_a_document_of_ten_megabytes_takes_seconds(tmp_path: Path) -> None:
    document = orjson.loads(content_of(f"{README}/3.1/json/readme.json"))
    document["x-padding"] = ["x" * 1000] * 15_000
    began = time.monotonic()
    imported(orjson.dumps(document), tmp_path, Options())
    assert time.monotonic() - began < 20


def test_our_own_document_is_imported_whole(tmp_path: Path) -> None:
    content = orjson.dumps(openapi.document(OPERATIONS, "http://localhost:8600"))
    written = imported(content, tmp_path, Options())
    assert (written.plan.app["test"]["url"], written.plan.app["session"]["url"]) == (
        "/v1/users/me", "http://localhost:8600/v1/oauth/token",
    )  # fmt: skip
    assert len(written.plan.actions) == len(OPERATIONS)
    assert written.plan.left == []
