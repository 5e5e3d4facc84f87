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
    """A round of each user's requests, one after another."""
    tokens = [_token(client, scenery, f"user-{number}") for number in range(USERS)]
    return [request for token in tokens for request in _round(scenery, token, cookie, listener)]


def _token(client: Client, scenery: Scenery, user: str) -> str:
    headers = {**scenery.headers, "Content-Type": "application/json"}
    body = json.dumps({"external_user_id": user}).encode()
    return str(json.loads(client.ask(Request("POST", f"{scenery.base}/tokens", headers, body)))["token"])


def _round(scenery: Scenery, token: str, cookie: str, listener: Listener) -> list[Request]:
    """What one user asks for, with a page and an event in between."""
    headers = {"Authorization": f"Bearer {token}", "X-PD-Environment": "development"}
    lists = [f"{scenery.base}/{path}" for path in ("accounts?limit=100", "accounts", "components?app=github")]
    searches = [f"/v1/connect/apps?limit=20{query}" for query in ("&q=river", "")]
    asked = [Request("GET", path, headers) for path in (*lists, *searches)]
    page = [Request("GET", path, {"Cookie": cookie}) for path in ("/apps", "/accounts", f"/triggers/{listener.id}")]
    event = Request("POST", listener.path, {"Content-Type": "application/json"}, b'{"n": 1}')
    return [*asked, *page, event]


def _send(port: int, requests: Sequence[Request]) -> None:
    with closing(Client(port)) as client:
        for wanted in requests:
            client.ask(wanted)
