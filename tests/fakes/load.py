"""An installation under load: processes of their own connect accounts of Acme and refresh them without a pause.

Acme hands each grant a chain of refresh tokens of which every one works once, so that a refresh that was lost or
overwritten shows as a dead account.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.provider import APP_TOML, FakeProvider
from webapp.kit.crypto import new_id
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts import accounts, connections, credentials, oauth_apps, token_refresh
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.oauth import TokenResult
from webapp.settings import Settings

ROOT = Path(__file__).parents[2]


@dataclass
class Load:
    """What the processes have told: ids of accounts, each after it was committed."""

    connected: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    _moved: threading.Condition = field(default_factory=threading.Condition)

    def wait_for_more(self, count: int) -> None:
        """Wait until that many more accounts were connected."""
        with self._moved:
            target = len(self.connected) + count
            assert self._moved.wait_for(lambda: len(self.connected) >= target or self.errors, 60), "nothing happens"
        assert self.errors == []

    def listen(self, process: subprocess.Popen[str]) -> None:
        """Note what ``process`` says, until it ends."""
        assert process.stdout is not None
        for line in process.stdout:
            with self._moved:
                for name, account_id in json.loads(line).items():
                    getattr(self, name).append(account_id)
                self._moved.notify_all()


def environment(data: Path, provider: FakeProvider, **more: str) -> dict[str, str]:
    """The environment of processes that work on ``data``."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    return {**inherited, "PATCHBAY_DATA": str(data), "PATCHBAY_ALLOW_HOSTS": f"127.0.0.1:{provider.port}", **more}


def furnish(data: Path, provider: FakeProvider) -> None:
    """Put the app and a project with its client into ``data``."""
    provider.grants = {}
    (data / "apps" / "acme").mkdir(parents=True)
    (data / "apps" / "acme" / "app.toml").write_text(APP_TOML.replace("{origin}", provider.origin))
    with opened(environment(data, provider)) as service:
        project = projects.create(service, name="Shop")
        oauth_apps.add(service, app="acme", client_id="c", client_secret="s", project_id=project.id)


@contextmanager
def opened(env: Mapping[str, str]) -> Iterator[Service]:
    """The service of ``env``, with the real clock."""
    found = {name: value for name, value in env.items() if name.startswith("PATCHBAY_")}
    service = open_service(Settings.from_env(found))
    try:
        yield service
    finally:
        close_service(service)


def work() -> None:
    """Connect accounts of the process's own and refresh them, telling of each, until the process is killed."""
    service = open_service(Settings.from_env())
    project = projects.first(service.store)
    assert project is not None
    scene, app = Scene(project.id, "development"), service.catalog.app("acme")
    client = oauth_apps.choose(service.store, project.id, "acme")
    assert app is not None and client is not None
    mine: list[str] = []
    for turn in itertools.count():
        if turn % 3 == 0:
            made = connect_tokens.create(service, scene, TokenRequest(f"user-{random.randrange(9)}"), client_id=None)
            result = TokenResult("a0", f"{new_id('g')}.0", 3600, None, "bearer", {})
            account = connections.connect_with_grant(
                service,
                connect_tokens.verify(service, made["token"]),
                app,
                client,
                result,
                requested=("read", "write"),
                profile="full",
                fields={},
                account_id=None,
            )
            mine.append(account.id)
            print(json.dumps({"connected": account.id}), flush=True)
        else:
            account = accounts.get(service.store, scene, random.choice(mine))
            after = token_refresh.refresh(service, account)
            assert credentials.read(service, after)["oauth_refresh_token"]
            print(json.dumps({"refreshed": after.id}), flush=True)


@contextmanager
def load(env: Mapping[str, str], processes: int = 2) -> Iterator[Load]:
    """Load on the data folder of ``env`` until the block ends; then the processes are killed."""
    told, command = Load(), [sys.executable, "-W", "error", "-m", "tests.fakes.load"]
    running = [
        subprocess.Popen(command, env=dict(env), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    threads = [threading.Thread(target=told.listen, args=(process,)) for process in running]
    for thread in threads:
        thread.start()
    try:
        yield told
    finally:
        for process in running:
            if process.poll() is not None and process.stderr is not None:
                told.errors.append(process.stderr.read())
            process.kill()
        for thread in threads:
            thread.join()
        for process in running:
            process.communicate()
    assert told.errors == []


def patchbay(env: Mapping[str, str], *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    command = [sys.executable, "-m", "webapp.cli.main", *words]
    found: subprocess.CompletedProcess[str] = subprocess.run(
        command, env=dict(env), cwd=ROOT, capture_output=True, text=True, timeout=120, **options
    )
    return found


def scene_of(service: Service) -> Scene:
    """Where everything was connected."""
    project = projects.first(service.store)
    assert project is not None
    return Scene(project.id, "development")


def every_account(service: Service) -> dict[str, Account]:
    """All accounts by their ids."""
    scene, ids = scene_of(service), service.store.all("SELECT id FROM accounts")
    return {row["id"]: accounts.get(service.store, scene, row["id"]) for row in ids}


def refresh_tokens(service: Service) -> dict[str, int]:
    """The chains of refresh tokens that accounts hold, and how far each has come."""
    held = [credentials.read(service, one)["oauth_refresh_token"] for one in every_account(service).values()]
    return {name: int(number) for name, _, number in (token.partition(".") for token in held)}


if __name__ == "__main__":
    work()
