"""What ``make bench`` asks for, as data: each operation's and page's request, and the figure it has to reach."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.bench.scene import USERS, WORDS, Scenery
from webapp.service.mcp import protocol

TOKENS = "/v1/connect/tokens"
Next = Callable[[], "Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """One request, and the status of the only answer that counts as one."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    status: int = 200


@dataclass(frozen=True, slots=True)
class Operation:
    """Something measured; ``next`` gives one request after another.

    ``target_ms`` is CPU milliseconds of all processes per request, or those beyond a bare route (``beyond_bare``).
    """

    name: str
    target_ms: float | None
    next: Next
    beyond_bare: bool = False


def operations(sceneries: Sequence[Scenery]) -> list[Operation]:
    """The API's table. Each row has a project to itself, since the calls of one project are limited.

    Users take turns at creating tokens, for the same reason.
    """
    creating, checking, listing, getting, empty = sceneries[:5]
    return [
        Operation("create a Connect token", 2.0, _created(creating).__next__),
        Operation(
            "check a Connect token", 1.0, _got(checking, f"/v1/connect/tokens/{checking.connect_token}/validate")
        ),
        Operation("list 100 of the accounts", 1.2, _got(listing, f"{listing.base}/accounts?limit=100")),
        Operation(
            "get one account with credentials",
            1.0,
            _got(getting, f"{getting.base}/accounts/{getting.account_id}?include_credentials=true"),
        ),
        Operation("search the apps, 20 per page", 1.5, _searches(getting, _REPEATED).__next__),
        Operation("search for what nobody typed yet", 1.5, _searches(getting, _TYPED).__next__),
        Operation("overhead: an empty list", 0.5, _got(empty, f"{empty.base}/accounts?external_user_id=nobody"), True),
    ]


PROJECTS = 5
"""How many projects :func:`operations` takes turns with."""
DECLARED = 2
"""How many projects :func:`declared` does."""
AGENTS = 2
"""How many projects :func:`agents` does."""


def declared(sceneries: Sequence[Scenery], netloc: str) -> list[Operation]:
    """The table of a declared component, whose provider listens at ``netloc`` and is not counted."""
    looking, running = sceneries[:DECLARED]
    values = {"address": f"http://{netloc}", "folder": "f7", "title": "Tea"}
    ask = {"id": "~/add-note", "prop_name": "folder", "configured_props": {"address": values["address"]}}
    run = {"id": "~/add-note", "configured_props": values}
    table = {
        "options of a declared component": (looking, "components/configure", ask),
        "run a declared component": (running, "actions/run", run),
    }
    return [
        Operation(name, 6.0, _posted(scenery, path, {**body, "external_user_id": scenery.user}))
        for name, (scenery, path, body) in table.items()
    ]


def agents(sceneries: Sequence[Scenery], netloc: str) -> list[Operation]:
    """The table of an agent: the run of :func:`declared` as a tool, which may take 3 ms more, and lists of tools."""
    running, listing = sceneries[:AGENTS]
    values = {"address": f"http://{netloc}", "folder": "f7", "title": "Tea"}
    run = {"name": "add_note", "arguments": values}
    search = {"name": "search_tools", "arguments": {"query": "create task"}}
    return [
        Operation("tool: run a declared component", 9.0, _messaged(running, "tools/call", run)),
        Operation("tools of a thousand actions", 20.0, _messaged(listing, "tools/list", {})),
        Operation("tools: search among them", 20.0, _messaged(listing, "tools/call", search)),
    ]


def _messaged(scenery: Scenery, method: str, params: Mapping[str, object]) -> Next:
    meta = {protocol.REVISION_KEY: protocol.MODERN, protocol.CAPABILITIES_KEY: {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    named = {"mcp-name": str(params["name"])} if "name" in params else {}
    headers = {
        **scenery.headers,
        **named,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "mcp-protocol-version": protocol.MODERN,
        "mcp-method": method,
        "x-pd-project-id": scenery.project_id,
        "x-pd-external-user-id": scenery.user,
    }
    return _repeated(Request("POST", "/mcp", headers, json.dumps(body).encode()))


def _posted(scenery: Scenery, path: str, body: Mapping[str, object]) -> Next:
    headers = {**scenery.headers, "Content-Type": "application/json"}
    return _repeated(Request("POST", f"{scenery.base}/{path}", headers, json.dumps(body).encode()))


PEOPLE = 4
"""How many people :func:`pages` does."""


def pages(cookies: Sequence[str], trigger_id: str, component: str) -> list[Operation]:
    """The dashboard's table, for the people signed in by ``cookies``.

    Each page that reads accounts has a person to itself, since the calls of one person are limited. The trigger is the
    first person's.
    """
    first, *others = cookies
    table = {
        "the page of apps": ("/apps", others[0]),
        "the page of accounts": ("/accounts", others[1]),
        "the page of triggers": ("/triggers", first),
        "the page of one trigger": (f"/triggers/{trigger_id}", first),
        "its deliveries": (f"/triggers/{trigger_id}/deliveries", first),
        "the page of one action": (component, others[2]),
        "what the palette finds": ("/search?q=create+task", others[2]),
    }
    return [
        Operation(name, 6.0, _repeated(Request("GET", path, {"Cookie": cookie})))
        for name, (path, cookie) in table.items()
    ]


def event(path: str) -> Next:
    """Events for the trigger that listens at ``path``, one after another."""
    numbers = itertools.count()
    headers = {"Content-Type": "application/json"}
    return lambda: Request("POST", path, headers, b'{"n": %d}' % next(numbers))


def _got(scenery: Scenery, path: str) -> Next:
    return _repeated(Request("GET", path, scenery.headers))


def _repeated(request: Request) -> Next:
    return lambda: request


def _created(scenery: Scenery) -> Iterator[Request]:
    for number in itertools.count():
        body = json.dumps({"external_user_id": f"user-{number % USERS}"}).encode()
        yield Request("POST", f"{scenery.base}/tokens", {**scenery.headers, "Content-Type": "application/json"}, body)


_REPEATED = ("river", "cedar mea", "summit", "git", "zephyr", "keeps the prairie")
_TYPED = tuple(word[:length] for word in WORDS for length in range(1, len(word) + 1))  # more than the catalog remembers


def _searches(scenery: Scenery, words: Sequence[str]) -> Iterator[Request]:
    for word in itertools.cycle(words):
        yield Request("GET", f"/v1/connect/apps?limit=20&q={word.replace(' ', '%20')}", scenery.headers)
