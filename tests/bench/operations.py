"""Whether the operations of whole APIs send what their documents ask for: ``python -m tests.bench.operations``.

A seed chooses twenty of the documents that ``[[api.documents]]`` of the built-in apps name, which have at least fifteen
operations, and fifteen of each. They are added to the app as an owner adds them, and run as a product runs them, with
an account of the app and values that fit the document's schemas (:mod:`tests.bench.values`). The request goes to a mock
that validates requests by the document: Prism, in the folder ``--prism``. The documents come from npm and PyPI
(:mod:`tests.packages`). Everything that is not accepted is printed with the mock's reason, and every document that is
left out with ours.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import click

from tests import packages
from tests.bench.values import Values, matching
from tests.fakes.ports import free_port
from tests.fakes.user_data import plant_account
from tests.service.catalog.components.providers.calls_form import calls_of
from webapp.errors import Invalid
from webapp.service.catalog import api_documents, sources
from webapp.service.catalog.importing import actions, documents, extensions, operations
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.extensions import Choice, Extended, Origin
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.records import Record
from webapp.service.catalog.sources import Places, Source
from webapp.service.catalog.spec import ApiDocument
from webapp.service.components.declared.interpreter import Interpreter
from webapp.service.components.declared.source import is_declared, read
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests, components
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.headers import USER_AGENT
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import Message, Transport, Watch, tls_context
from webapp.service.outbound.urls import Url, parse_url
from webapp.settings import Settings

DOCUMENTS, EACH, SEED, TARGET = 20, 15, 1, 97.0
ACCEPTED = 204
NOT_JUDGED = {
    "amazonaws.com:s3": "The mock reads neither bodies in XML nor parameters without a value.",
    "microsoft.com:graph": "Of its 20 MB, most refer to each other, and the mock does not finish reading.",
}
PRISM = Path("instance/prism")
_HOLE = re.compile(r"\{(\+?)([^{}]+?)\*?\}")
_OPTIONAL = 0.5
_WAIT_S = 120.0
_DATA_URL = "data:text/plain;base64,aGVsbG8="
_BODIES = {"json": "json", "form": "x-www-form-urlencoded", "multipart": "multipart/form", "text": "text/", "file": ""}
_LISTS = {"string[]": str, "integer[]": int}


@dataclass(frozen=True, slots=True)
class Tried:
    """An operation that was run: ``refusal`` is empty where the mock accepted its request."""

    operation: str
    refusal: str = ""


@dataclass
class Mock:
    """A validating mock of some operations, each below a first part of the path of its own, at ``origin``."""

    origin: str
    operations: Sequence[Operation]
    answers: list[tuple[int, str]] = field(default_factory=list)

    def address(self, operation: Operation, url: str) -> str | None:
        """Where the mock has ``operation`` instead of at ``url``; None for an address that is not of its path."""
        address = address_in(operation, url)
        return address and f"{self.origin}/{self.operations.index(operation)}{address}"


@dataclass(frozen=True, slots=True)
class MockedTransport(Transport):
    """Sends each message to the mock, whatever its own address is, and keeps the answer."""

    mock: Mock | None = None
    operation: Operation | None = None

    def exchange(
        self, message: Message, deadline: Any, max_bytes: int, cut: bool = False, watch: Watch | None = None
    ) -> Response | Failure:
        assert self.mock is not None and self.operation is not None
        address = self.mock.address(self.operation, str(message.url))
        if address is None or message.method != self.operation.method:
            self.mock.answers.append((0, f"{message.method} {message.url} is not of the document"))
            return Response(404, {}, b"{}", str(message.url))
        url = parse_url(address)
        assert isinstance(url, Url)
        outcome = Transport.exchange(self, replace(message, url=url), deadline, max_bytes, cut)
        if isinstance(outcome, Failure):
            self.mock.answers.append((0, outcome.sentence))
            return outcome
        self.mock.answers.append((outcome.status, outcome.body.decode(errors="replace")))
        return replace(outcome, url=str(message.url))


class MockedInterpreter(Interpreter):
    """An interpreter whose requests all go to a mock, which :meth:`aim` names for one operation."""

    def aim(self, mock: Mock, operation: Operation) -> None:
        """Send what is asked from now on to ``mock``, where it must be ``operation``."""
        client = OutboundClient(Guard(), user_agent=USER_AGENT)
        guard = Guard([urlsplit(mock.origin).netloc])
        client._transport = MockedTransport(guard, USER_AGENT, tls_context(None), mock, operation)
        self._mocked = client

    def _outbound(self, allow_hosts: tuple[str, ...]) -> OutboundClient:
        return self._mocked


# --- choosing ---


@dataclass(frozen=True, slots=True)
class Described:
    """A document that extends its app, with the operations that are run. ``left`` says which of those that the seed
    chose cannot be actions, and why."""

    source: Source
    facts: ApiDocument
    document: Document
    raw: Mapping[str, Any]
    chosen: Sequence[Operation] = ()
    left: Sequence[str] = ()


def chosen_documents(data: Path, chosen: random.Random, count: int, each: int) -> list[Described]:
    """``count`` documents with ``each`` operations, all of other apps; they extend the apps in ``data``."""
    every = [
        (source, facts)
        for source in sources.read(Places()).apps
        for facts in (source.spec.api.documents if source.spec.api else ())
        if source.spec.of is None and (facts.directory or facts.path) not in NOT_JUDGED
    ]
    chosen.shuffle(every)
    taken, found = set[str](), list[Described]()
    for source, facts in every:
        names = {source.spec.slug, facts.directory or facts.path}
        if names & taken or len(found) == count:
            continue
        described = extended(data, source, facts, chosen, each)
        if len(described.chosen) < each:
            _leave_out(
                f"{source.spec.slug} {facts.name}", f"only {len(described.chosen)} of its operations can be run."
            )
            extensions.remove(data, source.spec.slug, facts.name)
        else:
            taken |= names
            found.append(described)
    return found


def _leave_out(name: str, reason: str) -> None:
    click.echo(f"left out: {name}: {reason}")


def extended(data: Path, source: Source, facts: ApiDocument, chosen: random.Random, count: int) -> Described:
    """The app with operations of its document that are not deprecated, of which ``count`` are run."""
    place, spec = api_documents.place(facts), source.spec
    content = packages.content(packages.archive(place.package, place.version, place.integrity), place.path)
    document = documents.read(content)
    below = (facts.within,) if facts.within else facts.below
    wanted = [
        each
        for each in operations.listed(document)
        if not each.deprecated and (not below or any(f"{each.path}/".startswith(f"{path}/") for path in below))
    ]
    chosen.shuffle(wanted)
    names = tuple(each.key.removeprefix(f"{spec.slug}-") for each in source.components)
    files = tuple(Path(each.file) for each in source.components if is_declared(each.file))
    origin = Origin(place.package, place.version, place.integrity, place.path)
    choice = Choice(tuple(each.id for each in wanted[: 2 * count]))
    extension = extensions.extend(data, Extended(spec, names, files), facts, origin, content, choice).extension
    known = {each.id: each for each in extension.operations}
    possible = [each for each in wanted if known[each.id].on][:count]
    before = wanted[: wanted.index(possible[-1])] if possible else wanted
    left = [f"{each.id}: {known[each.id].reason}" for each in before if known[each.id].reason]
    raw = json.loads(content) if content.lstrip().startswith(b"{") else document.root
    return Described(source, facts, document, raw, possible, left)


# --- the mock ---


@contextmanager
def mocked(prism: Path, described: Described, folder: Path) -> Iterator[Mock]:
    """Prism with the operations of a document that are run."""
    file, port = folder / f"{described.source.spec.slug}.json", free_port()
    file.write_text(json.dumps(mock_document(described)), "utf-8")
    program = prism / "node_modules/@stoplight/prism-cli/dist/index.js"
    log = (folder / "prism.log").open("wb")
    process = subprocess.Popen(
        ["node", "--max-old-space-size=4096", str(program), "mock", "-h", "127.0.0.1", "-p", str(port), str(file)],
        stdout=log, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        _wait(process, port, folder / "prism.log")
        yield Mock(f"http://127.0.0.1:{port}", described.chosen)
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def mock_document(described: Described) -> dict[str, Any]:
    """The provider's document with the operations that are run only, each below its number; all answer 204.

    It is the document as the provider wrote it, but for Google's format, which no mock knows. Parameters that the app's
    facts say are never sent, such as Slack's token beside the header that has it, are not in it.
    """
    root = described.raw if {"openapi", "swagger"} & described.raw.keys() else described.document.root
    paths = {}
    for number, operation in enumerate(described.chosen):
        item = described.document.refs.object(root["paths"][operation.path])
        node = {**item[operation.method.lower()], "responses": {str(ACCEPTED): {"description": "Accepted."}}}
        for member in ("servers", "callbacks"):
            node.pop(member, None)
        unsent = {name for name, value in described.facts.values.items() if not value}
        if unsent and "parameters" in node:
            node["parameters"] = [each for each in node["parameters"] if each.get("name") not in unsent]
        path = _HOLE.sub(r"{\2}", operation.path.partition("#")[0])
        shared = {"parameters": item["parameters"]} if "parameters" in item else {}
        paths[f"/{number}{path}"] = {**shared, operation.method.lower(): node}
    return pruned(root, paths)


def pruned(root: Mapping[str, Any], paths: Mapping[str, Any]) -> dict[str, Any]:
    """The document ``root`` with these ``paths``, and of everything else what these refer to."""
    text = json.dumps(paths)
    kept: dict[str, Any] = {
        name: value for name, value in root.items()
        if name in ("openapi", "swagger", "info", "security", "securityDefinitions", "consumes", "produces")
    }  # fmt: skip
    kept["components"] = {"securitySchemes": root.get("components", {}).get("securitySchemes", {})}
    seen, waiting = set[str](), [text]
    while waiting:
        for reference in set(re.findall(r'"#/([^"]+)"', waiting.pop())) - seen:
            seen.add(reference)
            parts = [unquote(part).replace("~1", "/").replace("~0", "~") for part in reference.split("/")]
            depth = 3 if parts[0] == "components" else 2
            source, target = root, kept
            for part in parts[: depth - 1]:
                source = source.get(part, {})
                target = target.setdefault("x-paths" if part == "paths" else part, {})
            name = parts[depth - 1]
            if name in source and name not in target:
                target[name] = source[name]
                waiting.append(json.dumps(source[name]))
    kept["paths"] = paths
    whole = json.dumps(kept).replace('"#/paths/', '"#/x-paths/')
    return dict(json.loads(whole))


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    until = time.monotonic() + _WAIT_S
    while b"Prism is listening" not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"The mock does not answer: {log.read_text('utf-8')[-2000:]}")
        time.sleep(0.05)


# --- running ---


class Caller:
    """Runs the operations of one document as a product does."""

    def __init__(self, service: Service, scene: Scene, described: Described, chosen: random.Random) -> None:
        self._service, self._scene, self._described, self._random = service, scene, described, chosen
        self._values = Values(described.document, chosen)
        self._slug = described.source.spec.slug
        account = {"oauth_access_token": "token-of-ada", **calls_of(self._slug).account}
        self._account = plant_account(service, scene, "ada", self._slug, account)
        folder = extensions.folder_of(service.settings.data, self._slug, described.facts.name)
        record = Record.read(folder)
        assert record is not None
        self._record, self._folder = record, folder

    def run(self, mock: Mock, interpreter: MockedInterpreter, operation: Operation) -> Tried:
        """Run ``operation`` and say what the mock made of its request."""
        imported = self._record.operations[operation.id]
        interpreter.aim(mock, operation)
        mock.answers.clear()
        file = self._folder / "actions" / f"{imported.action}.toml"
        declared = read(file).fields
        values = self._filled(operation, declared, imported.props)
        component = component_requests.find(self._service, f"{self._slug}-{imported.action}", None, "action")
        try:
            outcome = components.run(self._service, ComponentRequest(self._scene, "ada", component, values))
        except Invalid as error:
            return self._tried(operation, f"not sent: {error} {[each.message for each in error.details]}", values)
        if not mock.answers:
            return self._tried(operation, f"not sent: {outcome['os'][-1:]}", values)
        status, body = mock.answers[-1]
        return self._tried(operation, "" if status == ACCEPTED else _reason(status, body), values)

    def _tried(self, operation: Operation, refusal: str, values: Mapping[str, Any]) -> Tried:
        shown = json.dumps({name: value for name, value in values.items() if name != "account"}, default=str)
        return Tried(operation.id, f"{refusal[:600]} (sent: {shown[:400]})" if refusal else "")

    def _filled(self, operation: Operation, declared: Mapping[str, Any], props: Mapping[str, str]) -> dict[str, Any]:
        """Values of an action's props: of those that are required, and of some others."""
        asked: Mapping[str, Mapping[str, Any]] = declared["props"]
        filled: dict[str, Any] = {}
        for name, prop in asked.items():
            if prop["type"] == "app":
                filled[name] = {"authProvisionId": self._account.id}
            elif not prop.get("optional") and "pattern" in prop and name not in props.values():
                filled[name] = matching(prop["pattern"], 1)  # it stands for several parameters
        for meaning, value in self._meant(operation, declared["request"]):
            name = props.get(meaning, "")
            if name in asked:
                wanted = not asked[name].get("optional") or meaning.startswith(("body:", "form:"))
                if wanted or self._random.random() < _OPTIONAL:
                    filled[name] = _as(asked[name], value)
        return filled

    def _meant(self, operation: Operation, request: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Values by what they stand for, as the record names props."""
        refs = self._described.document.refs
        for parameter in actions.parameters(refs, operation):
            value = self._values.of_parameter(parameter)
            yield f"{parameter.get('in')}:{parameter['name']}", value
            if isinstance(value, Mapping):
                yield from ((f"{parameter.get('in')}:{name}", member) for name, member in value.items())
        kind = next((kind for kind in _BODIES if kind in request), None)
        content = refs.object(refs.object(operation.node.get("requestBody")).get("content"))
        media = next((refs.object(each) for name, each in content.items() if kind and _BODIES[kind] in name), None)
        if media is None:
            media = next((refs.object(each) for each in content.values() if kind), None)
        if media is None:
            return
        place = "form" if kind in ("form", "multipart") else "body"
        value = self._values.of_body(media)
        if not isinstance(request[kind or ""], Mapping):
            yield f"{place}:{'file' if kind == 'file' else 'body'}", value
            return
        for name, member in value.items() if isinstance(value, Mapping) else ():
            yield f"{place}:{name}", member
            for inner, each in member.items() if isinstance(member, Mapping) else ():
                yield f"{place}:{name}.{inner}", each


def _as(prop: Mapping[str, Any], value: Any) -> Any:
    """``value`` as whoever fills in ``prop`` gives it."""
    if prop.get("format") == "file-ref":
        return _DATA_URL
    if prop["type"] == "string":
        return value if isinstance(value, str) else json.dumps(value)
    if prop["type"] == "integer" and isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    if each := _LISTS.get(prop["type"]):
        items = value if isinstance(value, list) else [value]
        return [item if isinstance(item, each) else each(item) for item in items]
    return value


def _reason(status: int, body: str) -> str:
    try:
        told = json.loads(body)
        problems = [f"{'.'.join(map(str, each.get('location', ())))} {each['message']}" for each in told["validation"]]
        return f"{status} {'; '.join(problems)}"
    except (ValueError, KeyError, TypeError):
        return f"{status} {body[:300]}"


def address_in(operation: Operation, url: str) -> str | None:
    """The path and the query of ``url`` as the document of ``operation`` has them, without what stands before; None for
    an address that is not of its path. A parameter that holds several parts of the path is written as one."""
    address, _, query = url.partition("?")
    written = operation.path.partition("#")[0]
    parts, end = [".*?"], 0
    for match in _HOLE.finditer(written):
        parts += [re.escape(written[end : match.start()]), "(.+)" if match[1] else "([^/]+)"]
        end = match.end()
    known = re.fullmatch("".join([*parts, re.escape(written[end:])]), urlsplit(address).path)
    if known is None:
        return None
    values = iter(known.groups())
    path = _HOLE.sub(lambda _: quote(unquote(next(values)), safe=""), written)
    return f"{path}?{query}" if query else path


@click.command()
@click.option("--documents", "count", default=DOCUMENTS, show_default=True)
@click.option("--operations", "each", default=EACH, show_default=True, help="Of each document.")
@click.option("--seed", default=SEED, show_default=True, help="What chooses documents, operations and values.")
@click.option("--prism", type=click.Path(exists=True, path_type=Path), default=PRISM, show_default=True)
@click.option("--only", default="", help="The slug of one app.")
def main(count: int, each: int, seed: int, prism: Path, only: str) -> None:
    """Run operations of whole APIs against a validating mock; fails below the share that is to be reached."""
    tried, left = list[Tried](), 0
    for name, reason in NOT_JUDGED.items():
        _leave_out(name, reason)
    with tempfile.TemporaryDirectory(prefix="patchbay-operations-") as text:
        data = Path(text) / "data"
        data.mkdir()
        every = enumerate(chosen_documents(data, random.Random(seed), count, each))
        chosen = [(number, described) for number, described in every if only in ("", described.source.spec.slug)]
        if not chosen:
            raise click.UsageError(f"The seed {seed} chooses no document{f' of {only}' if only else ''}.")
        service = open_service(Settings.from_env({}, data=data, sandbox=False))
        interpreter = MockedInterpreter()
        service.executor._interpreter = interpreter
        try:
            project = projects.create(service, name="Acme", app_name="Acme", support_email="help@acme.example")
            for number, described in chosen:
                scene, values = Scene(project.id, "development"), random.Random(f"{seed}/{number}")
                caller = Caller(service, scene, described, values)
                with mocked(prism, described, Path(text)) as mock:
                    of_one = [caller.run(mock, interpreter, operation) for operation in described.chosen]
                _show(described, of_one)
                tried, left = [*tried, *of_one], left + len(described.left)
        finally:
            close_service(service)
    accepted = sum(not one.refusal for one in tried)
    share = 100 * accepted / len(tried)
    click.echo(
        f"{accepted} of {len(tried)} operations of {len(chosen)} documents accepted: {share:.1f} % (≥ {TARGET:g} %); "
        f"{left} others cannot be actions"
    )
    sys.exit(share < TARGET)


def _show(described: Described, tried: Sequence[Tried]) -> None:
    accepted = sum(not one.refusal for one in tried)
    name = f"{described.source.spec.slug} {described.facts.name}"
    click.echo(f"{name}: {accepted} of {len(tried)} accepted")
    for one in tried:
        if one.refusal:
            click.echo(f"  refused: {one.operation}: {one.refusal}")
    for line in described.left:
        click.echo(f"  no action: {line}")


if __name__ == "__main__":
    main()
