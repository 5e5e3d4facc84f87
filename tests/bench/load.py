"""Mixed requests of many users, and of one person in the dashboard, by several clients: memory is judged after it."""

import json
import multiprocessing
from collections.abc import Sequence
from contextlib import closing
from itertools import cycle, islice

from tests.bench.calls import Request
from tests.bench.meter import Client
from tests.bench.scene import USERS, Scenery
from tests.bench.serving import Listener

CLIENTS = 4
LIMITED_EVERY = 100


def run(port: int, scenery: Scenery, cookie: str, listener: Listener, count: int) -> int:
    """Send ``count`` requests, from :data:`CLIENTS` processes; how many of them were events.

    Each round is of another user, since the calls of one are limited. Raises ``RuntimeError`` when one fails.
    """
    with closing(Client(port)) as client:
        mixed = mixture(client, scenery, cookie, listener)
    shares = [list(islice(cycle(mixed), number, count, CLIENTS)) for number in range(CLIENTS)]
    with multiprocessing.get_context("spawn").Pool(CLIENTS) as pool:
        pool.starmap(_send, [(port, share) for share in shares])
    return sum(request.path == listener.path for share in shares for request in share)


def mixture(client: Client, scenery: Scenery, cookie: str, listener: Listener) -> list[Request]:
    """A round of each user's requests, one after another. Beside a few of them stands what a project may not ask for as
    often: its lists, and the person's pages, which ask for them too."""
    tokens = [_token(client, scenery, f"user-{number}") for number in range(USERS)]
    rounds = [_round(token, listener) for token in tokens]
    for number in range(0, USERS, LIMITED_EVERY):
        rounds[number] += [*_lists(scenery, tokens[number]), *_pages(cookie, listener)]
    return [request for requests in rounds for request in requests]


def _token(client: Client, scenery: Scenery, user: str) -> str:
    headers = {**scenery.headers, "Content-Type": "application/json"}
    body = json.dumps({"external_user_id": user}).encode()
    return str(json.loads(client.ask(Request("POST", f"{scenery.base}/tokens", headers, body)))["token"])


def _round(token: str, listener: Listener) -> list[Request]:
    """What one user asks for, and an event."""
    paths = [f"/v1/connect/apps?limit=20{query}" for query in ("&q=river", "&q=cedar", "")]
    event = Request("POST", listener.path, {"Content-Type": "application/json"}, b'{"n": 1}')
    return [*(Request("GET", path, _headers(token)) for path in paths), event]


def _lists(scenery: Scenery, token: str) -> list[Request]:
    paths = ("accounts?limit=100", "accounts", "components?app=github")
    return [Request("GET", f"{scenery.base}/{path}", _headers(token)) for path in paths]


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "X-PD-Environment": "development"}


def _pages(cookie: str, listener: Listener) -> list[Request]:
    return [Request("GET", path, {"Cookie": cookie}) for path in ("/apps", "/accounts", f"/triggers/{listener.id}")]


def _send(port: int, requests: Sequence[Request]) -> None:
    with closing(Client(port)) as client:
        for wanted in requests:
            client.ask(wanted)
