"""What importing a document comes to: the app's facts, which operations become which actions, and why the others do
not.

A :class:`Record` of the last import stands beside the app's own files, in ``DATA/apps/<slug>/import.json``. It keeps
the names of actions and props over the next import, and tells which files are still as they were written. The facts
include the request that tests an account: an operation that needs nothing but the credential.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from webapp.errors import Invalid
from webapp.service.catalog import logos
from webapp.service.catalog.importing import actions, mcp_tools, operations, security, servers, words
from webapp.service.catalog.importing.actions import Action, App, Unsaid
from webapp.service.catalog.importing.documents import Document, Unresolved
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.records import MOST_ACTIONS, Imported, Options, Record
from webapp.service.catalog.importing.security import About, SignIn
from webapp.service.catalog.importing.servers import Server
from webapp.service.catalog.importing.words import Names

REPEATED = 3
"""From how many actions on a note that they share is given once, with their number."""
UNTESTED = (
    "No operation can test an account without asking for more, so accounts are connected untested. Name a path that "
    "can, such as /me, to have them tested."
)
UNSIGNED = (
    "The document names no way to sign in, so actions send no credential. If the API wants one, choose how accounts "
    "sign in."
)
_CATEGORY = "developer_tools"
_TELL_WHO = (
    "me",
    "whoami",
    "self",
    "current",
    "user",
    "current_user",
    "viewer",
    "account",
    "profile",
    "user-info",
    "userinfo",
)
_MAY_HARM = re.compile(r"log-?_?out|sign-?_?out|revoke|delete|remove|reset|cancel|disable", re.IGNORECASE)
_SECOND_CHOICE = ("accounts", "users", "projects", "workspaces", "organizations", "teams", "status", "info")


@dataclass(frozen=True, slots=True)
class Left:
    """An operation that becomes no action, and why."""

    operation: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written. ``app`` is ``app.toml``; ``left`` are the operations that become no action.

    ``options`` are the choices as they were taken. ``operations`` are all that the document has; ``sign_ins`` and
    ``servers`` all that could be chosen, and ``tests`` the operations that could test an account. ``groups`` are how
    many operations each group has. ``excess`` is how many were chosen where these are more than an app may have; then
    there is no action. 0 otherwise. ``tools`` are those of an MCP server by their names, as it lists them.
    """

    slug: str
    title: str
    version: str
    app: Mapping[str, Any]
    actions: Sequence[Action]
    left: Sequence[Left]
    notes: Sequence[str]
    options: Options
    operations: Sequence[Operation]
    sign_ins: Sequence[SignIn]
    servers: Sequence[tuple[str, str]]
    tests: Sequence[Operation]
    groups: Mapping[str, int] = field(default_factory=dict)
    excess: int = 0
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)


def plan(
    document: Document,
    slug: str,
    options: Options,
    before: Record | None = None,
    reserved: Sequence[str] = (),
    fetch: Callable[[str], bytes] | None = None,
    *,
    preview: bool = False,
) -> Plan:
    """The plan of importing ``document`` as the app ``slug``. ``before`` is what was imported as it already.

    ``reserved`` are names of actions that stand beside it; ``fetch`` asks for what the document refers to. With
    ``preview``, more operations than an app may have are counted. Raises :class:`Invalid` with a sentence about what
    has to be chosen, or is wrong.
    """
    listed = operations.listed(document)
    if not listed and document.server is None:
        raise Invalid("The document names no operation, so there is nothing to import.")
    options = options.or_else(_still(before.options, listed) if before else Options())
    chosen = operations.chosen(listed, options.only)
    excess = len(chosen) if len(chosen) > MOST_ACTIONS else 0
    if excess and not preview:
        raise Invalid.of("only", too_many(excess))
    server = servers.server(document, options.server)
    docs_url = choose_docs_url(document, options, server)
    ways, refused = security.choices(document, listed, About(docs_url, server.origin, fetch))
    sign_in = security.chosen(ways, refused, options.auth, docs_url)
    tests = _test_candidates(document, listed, sign_in)
    app, test = _app_facts(document, slug, options, server, sign_in, docs_url, tests)
    writer = _Writer(
        document, App(None if sign_in.auth_type == "none" else slug, server.plain, docs_url), sign_in, server.host
    )
    writer.write([] if excess else chosen, before, reserved)
    left = [*writer.left, *_never(document, listed, chosen, options)]
    app = narrowed(app, [action.operation for action in writer.done], document, sign_in)
    if document.server is not None:
        app = mcp_tools.app_facts(document.server, app)
    hosts = [*app.get("allowed_hosts", ()), *writer.hosts]
    written, repeated = _counted(writer.done)
    notes = [
        *sign_in.notes,
        *([UNSIGNED] if sign_in.auth_type == "none" and not options.auth and document.server is None else []),
        *([UNTESTED] if app.get("test", {}).get("kind") == "none" else []),
        *(f"{reason[:1].upper()}{reason[1:]}, so it is left out." for reason in _left_out(document)),
        *([] if listed else [mcp_tools.UNSEEN]),
        *repeated,
        *security.elsewhere(sign_in, server.host),
        *(f"{way} cannot be imported: {reason}." for way, reason in refused.items()),
    ]
    notes += [
        f"The credential also goes to {host}, where the document serves some operations." for host in writer.hosts
    ]
    return Plan(
        slug=slug,
        title=str(app["name"]),
        version=str(document.info.get("version") or ""),
        app={**app, "allowed_hosts": hosts} if hosts else app,
        actions=written,
        left=left,
        notes=notes,
        options=replace(options, auth=" + ".join(sign_in.names) or "none", test=test),
        operations=listed,
        sign_ins=ways,
        servers=servers.choices(document),
        tests=tests,
        groups=operations.counts(listed),
        excess=excess,
        tools=document.server.tools if document.server else {},
    )


def too_many(count: int) -> str:
    """What to do about so many operations."""
    return (
        f"These are {count:,} operations, and an app has {MOST_ACTIONS:,} at most. Choose some of them by their tags; "
        "a preview lists these with their numbers."
    )


def _left_out(document: Document) -> Sequence[str]:
    return document.server.left_out if document.server else ()


def _counted(done: Sequence[Action]) -> tuple[list[Action], list[str]]:
    """The actions without the notes that several of them share, and each of these once, with their number."""
    counts = Counter(note for action in done for note in action.notes)
    shared = {note: count for note, count in counts.items() if count >= REPEATED}
    kept = [replace(action, notes=tuple(note for note in action.notes if note not in shared)) for action in done]
    return kept, [f"In {count} actions, {note[:1].lower()}{note[1:]}" for note, count in shared.items()]


def _still(options: Options, listed: Sequence[Operation]) -> Options:
    """The choices of the last time, without names of what is gone."""
    present = operations.Present(listed)
    return replace(options, only=tuple(name for name in options.only if name in present))


class _Writer:
    """Makes actions of operations; what cannot be one is ``left``."""

    def __init__(self, document: Document, app: App, sign_in: SignIn, host: str) -> None:
        self._document, self._app, self._sign_in, self._host = document, app, sign_in, host
        self.done: list[Action] = []
        self.left: list[Left] = []
        self.hosts: list[str] = []

    def write(self, chosen: Sequence[Operation], before: Record | None, reserved: Sequence[str]) -> None:
        """Make them, under the names that they had ``before``."""
        known = {operation.id: old for operation in chosen if (old := _before(operation, chosen, before))}
        names = Names({id_: old.action for id_, old in known.items()}, tuple(reserved), "-")
        for operation in chosen:
            if reason := self._kept_out(operation):
                self.left.append(Left(operation.id, operation.title, reason))
                continue
            name = names.name(operation.id, operation.wanted_key, operation.method.lower())
            props = known[operation.id].props if operation.id in known else {}
            self._add(operation, name, props)

    def _add(self, operation: Operation, name: str, props: Mapping[str, str]) -> None:
        own = servers.own_address(self._document, operation)
        try:
            action = actions.action(self._document, operation, name, self._app, props)
        except Unsaid as error:
            self.left.append(Left(operation.id, operation.title, str(error)))
            return
        if own:
            path = str(action.toml["request"]["url"]).removeprefix("" if self._app.slug else self._app.base_url)
            action = replace(action, toml={**action.toml, "request": {**action.toml["request"], "url": f"{own}{path}"}})
            host = own.partition("://")[2].partition("/")[0]
            if self._app.slug and host not in (*self.hosts, self._host):
                self.hosts.append(host)
        self.done.append(action)

    def _kept_out(self, operation: Operation) -> str:
        ways = security.needed(self._document, operation)
        if self._sign_in.serves(ways):
            return ""
        return f"it needs another way to sign in, {' + '.join(ways[0])}"


def _before(operation: Operation, chosen: Sequence[Operation], before: Record | None) -> Imported | None:
    """What ``operation`` was imported as: by its method and path, else by its own id where that has moved."""
    if before is None:
        return None
    if operation.id in before.operations:
        return before.operations[operation.id]
    present = {each.id for each in chosen}
    moved = (
        each
        for id_, each in before.operations.items()
        if operation.operation_id and each.operation_id == operation.operation_id and id_ not in present
    )
    return next(moved, None)


def _never(
    document: Document, listed: Sequence[Operation], chosen: Sequence[Operation], options: Options
) -> Iterator[Left]:
    """What was not chosen because it is deprecated, and what no action could be."""
    taken = {operation.id for operation in chosen}
    for operation in listed:
        if operation.deprecated and operation.id not in taken and not options.only:
            yield Left(operation.id, operation.title, "it is deprecated; name it to import it all the same")
    for name in operations.unsendable(document):
        yield Left(name, name, "actions send no such request")


def _app_facts(
    document: Document,
    slug: str,
    options: Options,
    server: Server,
    sign_in: SignIn,
    docs_url: str,
    tests: Sequence[Operation],
) -> tuple[dict[str, Any], str]:
    """The facts of ``app.toml``, and which operation tests an account."""
    info = document.info
    name = options.name or words.sentences(info.get("title"), 60).rstrip(".") or words.label(slug)
    about = words.one_sentence(info.get("description")) or words.one_sentence(info.get("summary"))
    facts: dict[str, Any] = {
        "slug": slug,
        "name": name,
        "description": about if about.endswith(".") else f"The API of {name}.",
        "categories": [options.category or _CATEGORY],
        "auth_type": sign_in.auth_type,
        "logo": logos.of_letter(slug, name).model_dump(exclude_none=True),
    }
    if sign_in.auth_type == "none":
        return {**facts, "docs_url": docs_url}, ""
    test = _account_test(tests, options.test)
    facts |= {
        "docs_url": docs_url,
        "base_url": server.url,
        "allowed_hosts": [server.host],
        "sources": [docs_url],
        "fields": [*server.fields, *sign_in.fields],
        "credentials": list(sign_in.credentials),
        "test": {**test, "source": docs_url},
    }
    if sign_in.session:
        facts["session"] = dict(sign_in.session)
    if sign_in.oauth:
        facts["oauth"] = dict(sign_in.oauth)
    return facts, f"{test['method']} {test['url']}" if "url" in test else ""


def narrowed(
    facts: Mapping[str, Any], done: Sequence[Operation], document: Document, sign_in: SignIn
) -> dict[str, Any]:
    """``facts``, whose OAuth asks by default for the scopes that its actions name; others may be chosen."""
    if "oauth" not in facts:
        return dict(facts)
    used = {
        str(scope)
        for operation in done
        for way in _listed(operation.node.get("security", document.root.get("security")))
        for name, scopes in (way.items() if isinstance(way, Mapping) else ())
        if name in sign_in.names
        for scope in _listed(scopes)
    }
    scopes = [
        scope if not used or scope["scope"] in used else {**scope, "default": False}
        for scope in facts["oauth"]["scopes"]
    ]
    return {**facts, "oauth": {**facts["oauth"], "scopes": scopes}}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def choose_docs_url(document: Document, options: Options, server: Server) -> str:
    """Where people read about the API: what was chosen, what the document says, where it stands, else its server."""
    external = document.refs.object(document.root.get("externalDocs")).get("url")
    contact = document.refs.object(document.info.get("contact")).get("url")
    for url in (options.docs_url, external, document.address, contact, server.plain):
        if isinstance(url, str) and url.startswith("https://") and not any(mark in url for mark in "{} \\"):
            return url
    return server.plain if "{" not in server.plain and "://" in server.plain else "https://www.openapis.org"


def _test_candidates(document: Document, listed: Sequence[Operation], sign_in: SignIn) -> list[Operation]:
    """The operations that could, the most telling first."""
    if sign_in.auth_type == "none":
        return []
    fitting = [operation for operation in listed if _fits(document, operation, sign_in)]
    return sorted(fitting, key=_rank)


def _account_test(tests: Sequence[Operation], wanted: str) -> dict[str, Any]:
    """The ``[test]`` of an app: the operation or path that was ``wanted``, else the first; without any, none.

    Raises :class:`Invalid` for a path that cannot be one.
    """
    if not wanted:
        if not tests:
            return {"kind": "none"}
        return {"method": "GET", "url": tests[0].path}
    operation = next((each for each in tests if wanted in (each.operation_id, each.id, each.path)), None)
    if operation is not None:
        return {"method": "GET", "url": operation.path}
    path = wanted.removeprefix("GET ").strip()
    if not re.fullmatch(r"/[^\s{}\\]{0,500}", path):
        raise Invalid.of("test", f"{wanted[:100]!r} is no path that can test an account. Write one such as /me.")
    return {"method": "GET", "url": path}


def _fits(document: Document, operation: Operation, sign_in: SignIn) -> bool:
    if operation.method != "GET" or "{" in operation.path or _MAY_HARM.search(operation.path):
        return False
    ways = security.needed(document, operation)
    if not sign_in.serves([way for way in ways if way]):
        return False
    try:
        required = [each for each in actions.parameters(document.refs, operation) if each.get("required") is True]
        return not required and actions.answer_shape(document.refs, operation) is not None
    except (Unsaid, Unresolved):
        return False


def _rank(operation: Operation) -> tuple[int, int, str]:
    last = operation.path.rstrip("/").rpartition("/")[2].lower()
    place = next((at for at, names in enumerate((_TELL_WHO, _SECOND_CHOICE)) if last in names), 2)
    return place, len(operation.path), operation.path
