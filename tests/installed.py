"""An installed copy of the wheel in an environment of its own, and what a newcomer does with it first.

The copy knows nothing of the source: it is started in an empty folder, by the command that was installed, without
PYTHONPATH. Packages come from the registry; nothing else is reached.
"""

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.fakes.browser import Browser
from tests.fakes.ports import free_port
from tests.fakes.served import START_S

ROOT = Path(__file__).parent.parent
UV = Path(sys.executable).parent / "uv"
OWNER = {"email": "ada@example.com", "password": "a long enough password"}
USER = "user-42"


def run(*words: str | Path, **env: str) -> str:
    """The standard output of a command that has to succeed."""
    done = subprocess.run([*words], env={**outside(), **env}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{words[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def outside() -> dict[str, str]:
    """The environment of somebody who has no source tree and no settings."""
    hidden = ("PATCHBAY_", "PYTHON", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(hidden)}


def environment(folder: Path, wheel: Path, python: str = sys.executable) -> Path:
    """An empty environment in ``folder`` with the locked packages and ``wheel``; the installed command."""
    run(UV, "venv", "--quiet", "--python", python, folder)
    into = ("pip", "install", "--quiet", "--python", str(folder))
    run(UV, *into, "--require-hashes", "--requirement", ROOT / "requirements.lock")
    run(UV, *into, "--no-deps", wheel)
    return folder / "bin" / "patchbay"


class Copy:
    """An installed copy over a data folder, as ``patchbay serve`` in an empty folder makes it."""

    def __init__(self, command: Path, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.command, self.folder, port = command, folder, free_port()
        self.url, self.sandbox_url = f"http://localhost:{port}", f"http://localhost:{port + 1}"
        self.env = {"PATCHBAY_PORT": str(port), "HOME": str(folder), "PATCHBAY_MAIL": "off"}

    def run(self, *words: str) -> str:
        """The standard output of ``patchbay`` with ``words``."""
        done = subprocess.run(
            [self.command, *words], cwd=self.folder, env={**outside(), **self.env}, capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def serving(self) -> Iterator[str]:
        """It serves; the address that it prints."""
        with (self.folder / "serve.log").open("w") as errors, subprocess.Popen(
            [self.command, "serve"], cwd=self.folder, env={**outside(), **self.env}, stdout=subprocess.PIPE,
            stderr=errors, text=True,
        ) as process:  # fmt: skip
            try:
                assert process.stdout is not None
                assert select.select([process.stdout], [], [], START_S)[0], (self.folder / "serve.log").read_text()
                line = process.stdout.readline()
                assert "http" in line, (self.folder / "serve.log").read_text()
                yield line.split()[-1]
            finally:
                process.terminate()
                assert process.wait(30) == 0


def journey(copy: Copy) -> dict[str, str]:
    """Serve an empty folder, make the owner, connect the sandbox by OAuth, run an action, deploy a trigger and call a
    tool as an agent. The names of what is then there."""
    with copy.serving() as start_url:
        browser = Browser(copy.url)
        _sign_up(browser, start_url)
        init = json.loads(copy.run("init", "--json"))
        credentials = {name: init[name] for name in ("client_id", "client_secret")}
        grant = {"grant_type": "client_credentials", **credentials}
        token = _ask(f"{copy.url}/v1/oauth/token", json=grant)["access_token"]
        names = {"project": init["project_id"], "token": token}
        account = _connect(copy, browser, names)
        given = {"account": {"authProvisionId": account}}
        order = {"external_user_id": USER, "configured_props": given}
        ran = _call(copy, names, "actions/run", json={"id": "sandbox-list-projects", **order})
        assert ran["ret"], ran
        wanted = {"id": "sandbox-new-task", **order, "webhook_url": f"{copy.sandbox_url}/receiver"}
        names["trigger"] = _call(copy, names, "triggers/deploy", json=wanted)["data"]["id"]
        _call_as_agent(copy, names)
        return {**names, "account": account}


def kept(copy: Copy, names: Mapping[str, str]) -> None:
    """What a journey left is there, and works: in another version, or after a restart."""
    with copy.serving():
        accounts = _call(copy, names, "accounts", params={"external_user_id": USER})["data"]
        assert [(account["id"], account["healthy"]) for account in accounts] == [(names["account"], True)]
        triggers = _call(copy, names, "deployed-triggers", params={"external_user_id": USER})["data"]
        assert [(trigger["id"], trigger["active"]) for trigger in triggers] == [(names["trigger"], True)], triggers
        _call_as_agent(copy, names)
    assert "up to date" in copy.run("check")


def _sign_up(browser: Browser, start_url: str) -> None:
    """The first visit makes the owner's account, and signs in."""
    page = browser.visit(start_url)
    assert page.status == 200, page.text
    names = {"app_name": "Acme", "support_email": "help@acme.example"}
    home = browser.follow(browser.post(page.url, {**page.hidden(), **OWNER, **names}))
    assert home.status == 200 and "Sandbox" in browser.visit(f"{browser.home}/apps").text


def _connect(copy: Copy, browser: Browser, names: Mapping[str, str]) -> str:
    """The Connect Link of a token, as a person goes through it: the id of their account."""
    wanted = {"external_user_id": USER}
    link = _call(copy, names, "tokens", json=wanted)["connect_link_url"]
    page = browser.visit(f"{link}&app=sandbox")
    consent = browser.follow(browser.get(page.start_link()))
    allowed = {**consent.hidden(), "person": "per_ada", "behaviour": "normal", "decision": "allow"}
    done = browser.follow(browser.post(f"{copy.sandbox_url}/oauth/authorize", allowed))
    assert done.status == 200, done.text
    (account,) = _call(copy, names, "accounts", params=wanted)["data"]
    assert account["healthy"] and account["app"]["name_slug"] == "sandbox"
    return str(account["id"])


def _call_as_agent(copy: Copy, names: Mapping[str, str]) -> None:
    """List the tools of the user at /mcp, and call one that reads."""
    headers = {
        "Authorization": f"Bearer {names['token']}", "x-pd-project-id": names["project"],
        "x-pd-environment": "development", "x-pd-external-user-id": USER, "x-pd-app-slug": "sandbox",
        "Accept": "application/json, text/event-stream",
    }  # fmt: skip
    tools = _ask(f"{copy.url}/mcp", headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    listed = [tool["name"] for tool in tools["result"]["tools"]]
    assert "sandbox_list_projects" in listed, listed
    params = {"name": "sandbox_list_projects", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    answer = _ask(f"{copy.url}/mcp", headers=headers, json=call)["result"]
    assert not answer.get("isError"), answer


def _call(copy: Copy, names: Mapping[str, str], path: str, **options: Any) -> Any:
    headers = {"Authorization": f"Bearer {names['token']}", "x-pd-environment": "development"}
    return _ask(f"{copy.url}/v1/connect/{names['project']}/{path}", headers=headers, **options)


def _ask(url: str, **options: Any) -> Any:
    with requests.Session() as session:
        session.trust_env = False
        answer = session.request("POST" if "json" in options else "GET", url, timeout=60, **options)
    assert answer.ok, (url, answer.status_code, answer.text)
    return answer.json()
