"""The installation that ``make bench`` measures: a folder of its own with many accounts and many apps."""

import itertools
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webapp.kit.crypto import new_id
from webapp.service.domain.access import clients
from webapp.service.domain.accounts import lifecycle, provider_clients
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import external_users, projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

USERS = 200
_APP = """slug = "{slug}"
name = "{name}"
description = "{description}"
categories = ["developer_tools"]
featured_weight = {weight}
auth_type = "none"

[logo]
letter = "{letter}"
color = "#1d4ed8"
"""
WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "knoll", "lagoon",
          "meadow", "north", "orchard", "prairie", "quarry", "river", "summit", "tundra", "upland", "valley", "willow",
          "yonder", "zephyr")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scenery:
    """What requests have to name."""

    project_id: str
    access_token: str
    account_id: str


def prepare(settings: Settings, *, account_count: int, app_count: int) -> Scenery:
    """Fill ``settings.data``: ``account_count`` accounts of :data:`USERS` users, ``app_count`` apps in the catalog."""
    _write_apps(settings.data / "apps", app_count)
    service = open_service(settings)
    try:
        project = projects.create(service, name="Bench")
        scene = Scene(project.id, "development")
        client, _ = clients.scripted(service)
        last = _add_accounts(service, scene, account_count)
        return Scenery(project.id, clients.issue_token(service, client, None).token, last)
    finally:
        close_service(service)


def furnish(data: Path, like: Path) -> None:
    """Put the apps of ``like`` and the catalog that was built from them into ``data``; building it takes longest."""
    data.mkdir(exist_ok=True)
    shutil.copytree(like / "apps", data / "apps")
    shutil.copy(like / "catalog.db", data)


def grow(data: Path, scenery: Scenery, account_count: int) -> None:
    """Add accounts to those in ``data`` until there are ``account_count``; they come after the ones that are there."""
    with closing(sqlite3.connect(data / "patchbay.db", isolation_level=None)) as connection:
        for statement in ("PRAGMA cache_size = -262144", "PRAGMA synchronous = OFF", "BEGIN IMMEDIATE"):
            connection.execute(statement)
        cursor = connection.execute("SELECT * FROM accounts WHERE id = ?", (scenery.account_id,))
        names, model = [column[0] for column in cursor.description], cursor.fetchone()
        ((there,),) = connection.execute("SELECT COUNT(*) FROM accounts").fetchall()
        rows = _alike(dict(zip(names, model, strict=True)), account_count - there)
        marks = ", ".join(f":{name}" for name in names)
        connection.executemany(f"INSERT INTO accounts ({', '.join(names)}) VALUES ({marks})", rows)
        everything = f"{scenery.project_id}|development|accounts|||"
        connection.execute("UPDATE counters SET n = ? WHERE name = ?", (account_count, everything))
        connection.execute("COMMIT")


def _alike(model: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    ids = random.Random(2)  # names, not secrets
    for number in range(1, count + 1):
        account_id, at = f"apn_{ids.getrandbits(80):020x}", model["created_at"] + number
        yield {**model, "id": account_id, "identity_id": account_id, "created_at": at, "updated_at": at}


def _write_apps(folder: Path, count: int) -> None:
    """Apps with two-word names, the same ones each time."""
    names = random.Random(1)  # names, not secrets
    for number, (one, other) in zip(range(count), itertools.cycle(itertools.product(WORDS, WORDS)), strict=False):
        slug = f"bench_{one}_{other}_{number}"
        name = f"{one} {other} {number}".title()
        description = f"Keeps the {names.choice(WORDS)} of the {names.choice(WORDS)}."
        (folder / slug).mkdir(parents=True)
        text = _APP.format(slug=slug, name=name, description=description, weight=number % 900, letter=one[0].upper())
        (folder / slug / "app.toml").write_text(text)


def _add_accounts(service: Service, scene: Scene, count: int) -> str:
    """Accounts of a provider's client that is the project's own, so that their credentials may be read."""
    own = provider_clients.add(
        service, app="github", client_id="bench", client_secret=None, project_id=scene.project_id
    )
    account_id = ""
    with service.store.write() as tx:
        users = [external_users.ensure(tx, scene, f"user-{n}", service.clock()) for n in range(USERS)]
        for number in range(count):
            account_id, user = new_id("apn"), users[number % USERS]
            values = {"oauth_access_token": "t" * 40, "oauth_refresh_token": "r" * 40, "oauth_uid": str(number)}
            sealed, key = lifecycle.seal_credentials(service, tx, scene.project_id, account_id, values)
            now = service.clock() + number
            lifecycle.insert(tx, _account(account_id, scene, user.id, user.external_id, own.id, sealed, key, now))
    return account_id


def _account(
    account_id: str, scene: Scene, user_id: str, external_id: str, own_id: str, sealed: bytes, key: int, now: int
) -> Account:
    return Account(
        id=account_id, scene=scene, external_user_id=user_id, external_id=external_id, app="github",
        oauth_app_id=own_id, name=None, identity_id=account_id, identity_name=f"octocat-{account_id}", healthy=True,
        dead=False, error=None, authorized_scopes=("repo", "read:user"), scope_profile=None, credentials_sealed=sealed,
        credentials_key=key, expires_at=None, last_refreshed_at=None, next_refresh_at=None, last_checked_at=None,
        next_check_at=None, failures=0, lease_until=0, revision=0, created_at=now, updated_at=now,
    )  # fmt: skip
