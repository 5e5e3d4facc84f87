"""The examples of the manual run as they are printed, against a served installation with its own ids filled in."""

import json
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.fakes.installation import Installation
from tests.manual.documents import fences, text_of
from tests.service.catalog.components.providers.calls_form import CallsOfApp
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.domain.access import oauth_clients


@pytest.fixture
def served(data: Path) -> Iterator[Installation]:
    made = Installation(data).start()
    yield made
    made.stop()


def filled(code: str, served: Installation) -> str:
    """A code block with this installation's address, project and client."""
    client_id, secret = oauth_clients.dashboard(served.service)
    code = code.replace("http://localhost:8600", served.url).replace('"proj_…"', f'"{served.project.id}"')
    return code.replace('"client_id": "…"', f'"client_id": "{client_id}"').replace(
        '"client_secret": "…"', f'"client_secret": "{secret}"'
    )


def script(served: Installation) -> str:
    """The script of the guide."""
    (code,) = fences(text_of("guide"), "python")
    return filled(code, served)


def test_the_first_script_makes_a_link_and_reads_accounts(
    served: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    scope: dict[str, object] = {}
    exec(script(served), scope)
    link = capsys.readouterr().out.strip()
    assert link.startswith(f"{served.url}/_static/connect.html?token=ctok_") and link.endswith("&app=sandbox")
    assert scope["accounts"] == []
    assert requests.get(link, timeout=10).status_code == 200


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl on this machine")
def test_a_trigger_is_deployed_by_the_command_that_is_shown(served: Installation, tmp_path: Path) -> None:
    (command,) = [code for code in fences(text_of("embed"), "bash") if "triggers/deploy" in code]
    scope: dict[str, object] = {}
    exec(script(served), scope)
    done = subprocess.run(
        ["bash", "-euc", filled(command, served)],
        env={"PATH": "/usr/bin:/bin", "PROJECT_ID": served.project.id, "TOKEN": str(scope["token"])},
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    trigger = json.loads(done.stdout)["data"]
    assert trigger["id"].startswith("ti_") and trigger["active"] and trigger["interval_seconds"] == 900
    assert trigger["webhook_signing_key"].startswith("whsec_")


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl on this machine")
def test_an_action_is_asked_for_by_the_command_that_is_shown(served: Installation, tmp_path: Path) -> None:
    """Nobody has connected an account here, and that is all that is wrong with it."""
    (command,) = [code for code in fences(text_of("embed"), "bash") if "actions/run" in code]
    scope: dict[str, object] = {}
    exec(script(served), scope)
    names = {"PROJECT_ID": served.project.id, "TOKEN": str(scope["token"]), "ACCOUNT_ID": "apn_1"}
    done = subprocess.run(
        ["bash", "-euc", filled(command, served)],
        env={"PATH": "/usr/bin:/bin", **names}, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"error": "There is no such account."}


def test_calls_of_components_have_the_form_that_is_shown() -> None:
    (file,) = [code for code in fences(text_of("components"), "toml") if "[[calls]]" in code]
    assert len(CallsOfApp.model_validate(tomllib.loads(file)).calls) == 4


def test_the_oauth_that_is_shown_is_that_of_its_app() -> None:
    examples = [tomllib.loads(code) for code in fences(text_of("apps"), "toml") if "[oauth.client]" in code]
    for slug, example in zip(("raindrop", "netlify_oauth"), examples, strict=True):
        app = tomllib.loads((BUILT_IN / slug / "app.toml").read_text("utf-8"))
        assert example == {name: app[name] for name in example}
