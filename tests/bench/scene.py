"""The installation that ``make bench`` measures: a folder of its own with projects, many accounts and many apps."""

import itertools
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from webapp.kit.crypto import new_id
from webapp.people import users
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts import account_state, credentials, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import external_users, projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

USERS, PERSONS_ACCOUNTS = 200, 12
OWN_ACTIONS = 200  # beside the built-in ones
PASSWORD = "correct horse battery"
_COMPONENT = """name = "Add note"
version = "0.0.1"
description = "Adds a note to a folder."
hints = "creates"
summary = "Added {title}"

[props.address]
type = "string"
label = "Address"

[props.folder]
type = "string"
label = "Folder"
options = { url = "{address}/folders", label = "{$item.name}", value = "{$item.id}" }

[props.title]
type = "string"
label = "Title"

[request]
method = "POST"
url = "{address}/notes"
json = { folder = "{folder}", title = "{title}" }
"""
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


def email(number: int) -> str:
    """The address that the person of that number signs in with."""
    return f"bench-{number}@example.com"


@dataclass(frozen=True, slots=True)
class Scenery:
    """A project with accounts, and what requests to it have to name; ``user`` is one of its users, whose
    ``connect_token`` is.
    """

    project_id: str
    access_token: str
    account_id: str
    user: str
    connect_token: str

    @property
    def base(self) -> str:
        """The beginning of its paths."""
        return f"/v1/connect/{self.project_id}"

    @property
    def headers(self) -> dict[str, str]:
        """What every request to it carries."""
        return {"Authorization": f"Bearer {self.access_token}", "X-PD-Environment": "development"}


def prepare(
    settings: Settings, *, projects_count: int, account_count: int, app_count: int, people_count: int
) -> list[Scenery]:
    """Fill ``settings.data``: projects with ``account_count`` accounts of :data:`USERS` users each, ``app_count`` apps
    in the catalog, and people who can sign in, each with :data:`PERSONS_ACCOUNTS` accounts in the first project."""
    _write_apps(settings.data / "apps", app_count)
    _write_components(settings.data / "components")
    service = open_service(settings)
    try:
        client, _ = oauth_clients.scripted(service)
        token = access_tokens.issue(service, client, None).token
        people = [
            users.create(service.store, service.clock, email=email(number), password=PASSWORD, role="owner").id
            for number in range(people_count)
        ]
        sceneries = []
        for number in range(projects_count):
            project = projects.create(service, name=f"Bench {number}")
            scene = Scene(project.id, "development")
            names = [f"user-{n}" for n in range(USERS)] if number else people
            last = _add_accounts(service, scene, account_count if number else PERSONS_ACCOUNTS * people_count, names)
            connect = connect_tokens.create(service, scene, TokenRequest(names[0]), client_id=client.id)["token"]
            sceneries.append(Scenery(project.id, token, last, names[0], connect))
        return sceneries
    finally:
        close_service(service)


def furnish(data: Path, like: Path) -> None:
    """Put the apps of ``like`` and the catalog that was built from them into ``data``; building it takes longest."""
    data.mkdir(exist_ok=True)
    shutil.copytree(like / "apps", data / "apps")
    shutil.copy(like / "catalog.db", data)


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


def _write_components(folder: Path) -> None:
    """An action, and so many like it that there are a thousand for an agent."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "add-note.toml").write_text(_COMPONENT)
    for number in range(OWN_ACTIONS):
        text = _COMPONENT.replace('"Add note"', f'"Add note {number}"')
        (folder / f"add-note-{number}.toml").write_text(text)


def _add_accounts(service: Service, scene: Scene, count: int, names: Sequence[str]) -> str:
    """Accounts of a provider's client that is the project's own, so that their credentials may be read."""
    own = oauth_apps.add(service, app="github", client_id="bench", client_secret=None, project_id=scene.project_id)
    account_id = ""
    with service.store.write() as tx:
        owners = [external_users.ensure(tx, scene, name, service.clock()) for name in names]
        for number in range(count):
            account_id, user = new_id("apn"), owners[number % len(owners)]
            values = {"oauth_access_token": "t" * 40, "oauth_refresh_token": "r" * 40, "oauth_uid": str(number)}
            sealed, key = credentials.seal(service, tx, scene.project_id, account_id, values)
            now = service.clock() + number
            account_state.insert(tx, _account(account_id, scene, user.id, user.external_id, own.id, sealed, key, now))
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
