"""What ``make bench`` measures, as data: each operation's request and the figure it has to reach."""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.bench.scene import USERS, WORDS, Scenery


@dataclass(frozen=True, slots=True)
class Request:
    """One request as both the WSGI app and the server get it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Operation:
    """A measured operation; ``next`` gives one request after another.

    ``target_ms`` is CPU milliseconds per request through the app, or those beyond a bare route (``beyond_bare``).
    """

    name: str
    target_ms: float | None
    next: Callable[[], Request]
    beyond_bare: bool = False


def operations(scenery: Scenery, connect_token: str) -> tuple[Operation, ...]:
    """The table. Users take turns at creating tokens, since each may have a hundred a minute."""
    base = f"/v1/connect/{scenery.project_id}"
    account = f"{base}/accounts/{scenery.account_id}"
    headers = {"Authorization": f"Bearer {scenery.access_token}", "X-PD-Environment": "development"}

    def get(path: str) -> Callable[[], Request]:
        request = Request("GET", path, headers)
        return lambda: request

    return (
        Operation("create a Connect token", 2.0, _created(base, headers).__next__),
        Operation("check a Connect token", 1.0, get(f"/v1/connect/tokens/{connect_token}/validate")),
        Operation("list 100 of the accounts", 1.5, get(f"{base}/accounts?limit=100")),
        Operation("get one account with credentials", 1.0, get(f"{account}?include_credentials=true")),
        Operation("search the apps, 20 per page", 1.5, _searches(headers, _REPEATED).__next__),
        Operation("search for what nobody typed yet", 1.5, _searches(headers, _TYPED).__next__),
        Operation("overhead: an empty list", 0.5, get(f"{base}/accounts?external_user_id=nobody"), beyond_bare=True),
    )  # fmt: skip


def _created(base: str, headers: dict[str, str]) -> Iterator[Request]:
    for number in itertools.count():
        body = json.dumps({"external_user_id": f"user-{number % USERS}"}).encode()
        yield Request("POST", f"{base}/tokens", {**headers, "Content-Type": "application/json"}, body)


_REPEATED = ("river", "cedar mea", "summit", "git", "zephyr", "keeps the prairie")
_TYPED = tuple(word[:length] for word in WORDS for length in range(1, len(word) + 1))  # more than the catalog remembers


def _searches(headers: dict[str, str], words: Sequence[str]) -> Iterator[Request]:
    for word in itertools.cycle(words):
        yield Request("GET", f"/v1/connect/apps?limit=20&q={word.replace(' ', '%20')}", headers)
