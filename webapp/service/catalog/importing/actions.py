"""An operation as a declared action: what stands in ``actions/<name>.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from webapp.service.catalog.importing import answers, bodies, parameters, words
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.drafts import ACCOUNT, Draft, Unsaid
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.refs import Unresolved
from webapp.service.catalog.importing.words import Names

FIRST = "0.0.1"
_OF_ADDRESSES = ":/?#[]@!$&'*+,;=%~"  # all that an address may hold but brackets, which would end the link
HINTS = {
    "GET": "reads",
    "HEAD": "reads",
    "POST": "creates",
    "PUT": "overwrites",
    "PATCH": "overwrites",
    "DELETE": "overwrites",
}


@dataclass(frozen=True, slots=True)
class Action:
    """An action as it will be written. ``toml`` is its file, but for its version; ``notes`` tell what it leaves out.

    ``props`` are the names of its props by what they stand for.
    """

    operation: Operation
    name: str
    toml: Mapping[str, Any]
    notes: tuple[str, ...]
    props: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class App:
    """What actions need to know of the app that they are written for. ``slug`` is None where it has no accounts.

    ``base_url`` stands before each path where there is no account to say it; ``docs_url`` is the reference.
    """

    slug: str | None
    base_url: str
    docs_url: str


def action(document: Document, operation: Operation, name: str, app: App, known: Mapping[str, str]) -> Action:
    """``operation`` as the action ``name``. ``known`` are the names that its props had. Raises :class:`Unsaid`."""
    names = Names(dict(known), (ACCOUNT,))
    draft = Draft(document.refs, names)
    try:
        path = parameters.add(draft, operation)
        bodies.add(draft, operation)
        answer = answers.answer(document.refs, operation)
    except Unresolved as error:
        raise Unsaid(str(error)) from None
    url = path if app.slug else f"{app.base_url}{path}"
    toml = {
        "name": operation.title,
        "description": _description(operation, app),
        "hints": HINTS[operation.method],
        "summary": answers.summary(operation, answer, document.refs),
        "props": draft.toml(app.slug),
        "request": _request(operation, draft, url),
    }
    if answer is None:
        toml["file"] = f"{name}.{answers.ending(document.refs, operation)}"
    return Action(operation, name, toml, tuple(draft.notes), dict(names.known))


def _request(operation: Operation, draft: Draft, url: str) -> dict[str, Any]:
    parts = {"params": draft.params, "headers": draft.headers}
    return {
        "method": operation.method,
        "url": url,
        **{name: part for name, part in parts.items() if part},
        **draft.body,
    }


def _description(operation: Operation, app: App) -> str:
    about = words.one_sentence(operation.node.get("description")) or words.one_sentence(operation.title)
    external = operation.node.get("externalDocs")
    link = str(external.get("url") or "") if isinstance(external, Mapping) else ""
    link = link if link.startswith(("https://", "http://")) else app.docs_url
    return f"{about} [See the documentation]({quote(link, safe=_OF_ADDRESSES)})" if link else about
