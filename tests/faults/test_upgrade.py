"""The manual's steps (upgrade "Upgrade one machine", "Roll back"), with the version of before the newest migration.

What it kept is there after the upgrade, the newer schema is refused, and the backup leads back. Today's version also
opens what the first version kept that could serve. Nothing is installed: all versions run with the same libraries.
"""

import base64
import json
import re
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.cli.conftest import COMMAND, ROOT, Shell
from tests.fakes.served import START_S

pytestmark = pytest.mark.faults

URL = "https://products-webhook.invalid/events"
FIRST = "webapp/service/outbound/smtp.py"  # with this file, the first version could serve


def git(*words: str) -> bytes:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("there is no history to take an earlier version from")
    return done.stdout


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source tree of the version before the newest migration."""
    newest = git("log", "-1", "--format=%H", "--diff-filter=A", "--", "webapp/store/schema").decode().strip()
    return tree_of(f"{newest}^", tmp_path_factory.mktemp("earlier"))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source tree of the first version that could serve."""
    commits = git("log", "--reverse", "--format=%H", "--diff-filter=A", "--", FIRST).decode().split()
    return tree_of(commits[0], tmp_path_factory.mktemp("first"))


def tree_of(commit: str, folder: Path) -> Path:
    """The source tree of ``commit`` in ``folder``, with the packages of today's front end."""
    archive = git("archive", commit, "webapp", "templates", "static")
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=archive, check=True)
    (folder / "static" / "vendor").symlink_to(ROOT / "static" / "vendor")
    return folder


@dataclass
class Version:
    """One version of the program, over the same data folder as the other."""

    tree: Path
    shell: Shell

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of this version; the code stands where it is started."""
        return subprocess.run([*COMMAND, *words], env=self.shell.env, cwd=self.tree, capture_output=True, text=True)

    @contextmanager
    def serving(self) -> Iterator["Client"]:
        """It serves."""
        with subprocess.Popen(
            [*COMMAND, "serve"], env=self.shell.env, cwd=self.tree, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None and select.select([process.stdout], [], [], START_S)[0]
            assert process.stdout.readline()
            try:
                yield Client(f"http://localhost:{self.shell.env['PATCHBAY_PORT']}")
            finally:
                process.terminate()
                assert process.wait(15) == 0


@dataclass
class Client:
    """A client of the service, by plain HTTP."""

    base: str

    def ask(self, method: str, path: str, token: str = "", **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}", "x-pd-environment": "development"} if token else {}
        with requests.Session() as session:
            session.trust_env = False
            answer = session.request(method, self.base + path, headers=headers, timeout=10, **options)
        assert answer.ok, answer.text
        return answer.json() if "json" in answer.headers.get("Content-Type", "") else answer.text


def test_there_and_back(earlier: Path, shell: Shell, data: Path, tmp_path: Path) -> None:
    shell.env = {**shell.env, "PATCHBAY_MAIL": "off", "PATCHBAY_SANDBOX": "off"}
    (data / "catalog.db").unlink()
    old, new = Version(earlier, shell), Version(ROOT, shell)
    backup = str(tmp_path / "before.zip")
    with old.serving() as client:
        ready = json.loads(old.run("init", "--json").stdout)
        body = {"grant_type": "client_credentials", **{name: ready[name] for name in ("client_id", "client_secret")}}
        token = client.ask("POST", "/v1/oauth/token", json=body)["access_token"]
        place = f"/v1/connect/{ready['project_id']}"
        wanted = {"id": "http-new-requests", "external_user_id": "lena", "webhook_url": URL}
        trigger = client.ask("POST", f"{place}/triggers/deploy", token, json=wanted)["data"]
        address = "/h/" + trigger["endpoint_url"].partition("/h/")[2]
        client.ask("POST", address, json={"n": 1})
        assert old.run("backup", backup).returncode == 0
    deliveries = f"{place}/deployed-triggers/{trigger['id']}/deliveries?external_user_id=lena"

    assert "migrations wait" in new.run("check").stdout
    with new.serving() as client:
        assert len(client.ask("GET", deliveries, token)["data"]) == 1, "token, trigger and event are still there"
        client.ask("POST", address, json={"n": 2})
        assert "The schema is up to date." in new.run("check").stdout

    refused = old.run("serve")
    assert refused.returncode == 1 and "was made by a newer version of Patchbay" in refused.stderr
    with new.serving() as client:
        assert len(client.ask("GET", deliveries, token)["data"]) == 2, "the refusal did nothing to it"

    restored = old.run("restore", backup)
    assert restored.returncode == 0, restored.stderr
    with old.serving() as client:
        assert len(client.ask("GET", deliveries, token)["data"]) == 1, "it is as it was when the backup was written"
        client.ask("POST", address, json={"n": 3})
    assert new.run("restore", backup).returncode == 0, "a newer version reads it, too"
    assert "migrations wait" in new.run("check").stdout


@pytest.mark.embedded
def test_what_the_first_version_kept_is_there_today(first: Path, shell: Shell, data: Path, tmp_path: Path) -> None:
    """The provider says whose key an account holds: what was sealed then opens now, and is the same."""
    shell.env = {**shell.env, "PATCHBAY_MAIL": "off"}
    old = Version(first, Shell({name: value for name, value in shell.env.items() if name != "PATCHBAY_MAIL"}))
    catalog = (data / "catalog.db").rename(tmp_path / "todays.db")
    sandbox = f"http://localhost:{int(shell.env['PATCHBAY_PORT']) + 1}"
    with old.serving() as client:
        ready = json.loads(old.run("init", "--json").stdout)
        secret = {"grant_type": "client_credentials", **{name: ready[name] for name in ("client_id", "client_secret")}}
        token = client.ask("POST", "/v1/oauth/token", json=secret)["access_token"]
        place = f"/v1/connect/{ready['project_id']}"
        keys = re.findall(r"sbx_live_[0-9a-f]{40}", requests.get(f"{sandbox}/keys", timeout=10).text)
        accounts = {}
        for user, key in zip(("lena", "omar"), dict.fromkeys(keys), strict=False):
            link = client.ask("POST", f"{place}/tokens", token, json={"external_user_id": user})["token"]
            given = {"app_slug": "sandbox_keys", "connect_token": link, "cfmap_json": json.dumps({"api_key": key})}
            account = client.ask("POST", f"{place}/accounts", token, json=given)
            accounts[account["id"]] = (user, key, account["created_at"])

    new = Version(ROOT, shell)
    catalog.rename(data / "catalog.db")
    assert "migrations wait" in new.run("check").stdout
    for _ in range(2):  # and once more, over what the upgrade left
        with new.serving() as client:
            assert client.ask("GET", f"{place}/projects/info", token), "a token of then still opens the project"
            token = client.ask("POST", "/v1/oauth/token", json=secret)["access_token"]
            listed = client.ask("GET", f"{place}/accounts", token)["data"]
            assert {one["id"] for one in listed} == set(accounts)
            for account_id, (user, key, created_at) in accounts.items():
                shown = client.ask("GET", f"{place}/accounts/{account_id}", token)
                assert (shown["created_at"], shown["healthy"], shown["external_id"]) == (created_at, True, user)
                url = base64.urlsafe_b64encode(f"{sandbox}/api/me".encode()).decode().rstrip("=")
                query = f"external_user_id={user}&account_id={account_id}"
                seen = client.ask("GET", f"{place}/proxy/{url}?{query}", token)
                said = requests.get(f"{sandbox}/api/me", headers={"X-Api-Key": key}, timeout=10).json()
                assert seen == said and seen["id"], "the very key that was given then"
            assert "The schema is up to date." in new.run("check").stdout
