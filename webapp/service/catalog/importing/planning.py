"""Planning an import: which operations become which actions, and what becomes of the others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from webapp.errors import Invalid
from webapp.service.catalog.importing import actions, facts, operations, security, servers, testing
from webapp.service.catalog.importing.actions import Action, App
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.drafts import Unsaid
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.plans import Left, Plan
from webapp.service.catalog.importing.schemes import About, SignIn
from webapp.service.catalog.importing.standing import Imported, Options, Standing
from webapp.service.catalog.importing.words import Names

MOST_ACTIONS = 1500


def plan(
    document: Document,
    slug: str,
    options: Options,
    before: Standing | None = None,
    reserved: Sequence[str] = (),
    fetch: Callable[[str], bytes] | None = None,
) -> Plan:
    """The plan of importing ``document`` as the app ``slug``. ``before`` is what was imported as it already.

    ``reserved`` are names of actions that stand beside it; ``fetch`` asks for what the document refers to.
    Raises :class:`Invalid` with a sentence about what has to be chosen, or is wrong.
    """
    listed = operations.listed(document)
    if not listed:
        raise Invalid("The document names no operation, so there is nothing to import.")
    options = options.or_else(_still(before.options, listed) if before else Options())
    chosen = operations.chosen(listed, options.only)
    if len(chosen) > MOST_ACTIONS:
        raise Invalid.of(
            "only", f"These are {len(chosen):,} operations. Choose {MOST_ACTIONS:,} at most, by their tags."
        )
    server = servers.server(document, options.server)
    docs_url = facts.docs_url(document, options, server)
    ways, refused = security.choices(document, listed, About(docs_url, server.origin, fetch))
    sign_in = security.chosen(ways, refused, options.auth, docs_url)
    tests = testing.candidates(document, listed, sign_in)
    app, test = facts.app(document, slug, options, server, sign_in, docs_url, tests)
    writer = _Writer(
        document, App(None if sign_in.auth_type == "none" else slug, server.plain, docs_url), sign_in, server.host
    )
    writer.write(chosen, before, reserved)
    left = [*writer.left, *_never(document, listed, chosen, options)]
    app = facts.narrowed(app, [action.operation for action in writer.done], document, sign_in)
    hosts = [*app.get("allowed_hosts", ()), *writer.hosts]
    notes = [
        *sign_in.notes,
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
        actions=writer.done,
        left=left,
        notes=notes,
        options=replace(options, auth=" + ".join(sign_in.names) or "none", test=test),
        operations=listed,
        sign_ins=ways,
        servers=servers.choices(document),
        tests=tests,
    )


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

    def write(self, chosen: Sequence[Operation], before: Standing | None, reserved: Sequence[str]) -> None:
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


def _before(operation: Operation, chosen: Sequence[Operation], before: Standing | None) -> Imported | None:
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
