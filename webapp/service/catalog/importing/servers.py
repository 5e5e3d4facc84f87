"""Where an API is served: the base address of its requests, with a field of the account for each variable in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from webapp.errors import Invalid
from webapp.kit.networks import LOOPBACK_NAMES
from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.operations import Operation
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import parse_url

_VARIABLE = re.compile(r"\{([^{}]+)\}")
_MISSING = "The document does not say where the API is served. Name its address, such as https://api.example.com/v1."


@dataclass(frozen=True, slots=True)
class Server:
    """An address with ``{field}`` for each variable, the ``fields`` of an account, and the host rule for both.

    ``plain`` is the address with the variables' own values, for an app without accounts.
    """

    url: str
    host: str
    plain: str
    fields: tuple[Mapping[str, Any], ...] = ()

    @property
    def origin(self) -> str:
        """The address without its path."""
        scheme, _, rest = self.url.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}" if rest else ""


def choices(document: Document) -> list[tuple[str, str]]:
    """The addresses that the document names, each with its description."""
    listed = document.root.get("servers")
    nodes = [document.refs.object(node) for node in listed] if isinstance(listed, list) else []
    return [(str(node.get("url")), words.sentences(node.get("description"))) for node in nodes if node.get("url")]


def server(document: Document, wanted: str = "") -> Server:
    """The one that was ``wanted``, else the first. Raises :class:`Invalid` where there is none that can be used."""
    listed = document.root.get("servers")
    nodes = [document.refs.object(node) for node in listed] if isinstance(listed, list) else []
    node = next((each for each in nodes if each.get("url") == wanted), None) if wanted else next(iter(nodes), None)
    node = node or {"url": wanted or "/"}
    return _server(document, str(node.get("url") or ""), document.refs.object(node.get("variables")))


def own_address(document: Document, operation: Operation) -> str:
    """The whole address below which one operation is served, where that is not the document's; else empty.

    Addresses with variables and those that are not whole say nothing that a single action could use.
    """
    for node in (operation.node, operation.shared):
        listed = node.get("servers")
        first = document.refs.object(listed[0]) if isinstance(listed, list) and listed else {}
        url = str(first.get("url") or "")
        if (
            url.startswith("https://")
            and not any(mark in url for mark in "{?#")
            and not isinstance(parse_url(url), Failure)
        ):
            return url.rstrip("/")
    return ""


def _server(document: Document, url: str, variables: Mapping[str, Any]) -> Server:
    url = _with_values(document, url, variables)
    if not url.startswith(("https://", "http://", "{")):
        url = document.absolute(url)
    if not url.startswith(("https://", "http://", "{")):
        raise Invalid.of("server", _MISSING)
    url = _encrypted(url.partition("?")[0].partition("#")[0].rstrip("/"))
    fields = tuple(_field(document, name, variables) for name in dict.fromkeys(_VARIABLE.findall(url)))
    plain = _VARIABLE.sub(lambda match: str(document.refs.object(variables.get(match[1])).get("default", "")), url)
    filled = _VARIABLE.sub(lambda match: f"{{{words.field(match[1])}}}", url)
    host = filled if filled.startswith("{") else filled.partition("://")[2].partition("/")[0]
    checked = parse_url(_VARIABLE.sub("sample", url)) if not url.startswith("{") else None
    if isinstance(checked, Failure) and ":{" not in host:
        raise Invalid.of("server", f"The API's address {url[:200]} cannot be used: {checked.sentence}")
    host = host.partition("/")[0] if host.startswith("{") else host
    dotted = {
        words.field(name) for name in variables if "." in str(document.refs.object(variables[name]).get("default"))
    }
    if not _VARIABLE.fullmatch(host):
        for name in dotted:
            filled, host = (text.replace(f"{{{name}}}", f"{{{name}*}}") for text in (filled, host))
    return Server(filled, host, plain, fields)


def _with_values(document: Document, url: str, variables: Mapping[str, Any]) -> str:
    """``url`` with the values of variables that leave no choice, or that stand where no field may."""

    def value(match: re.Match[str]) -> str:
        variable = document.refs.object(variables.get(match[1]))
        default, choices = str(variable.get("default", "")), variable.get("enum")
        is_scheme = url[match.end() :].startswith("://")
        if is_scheme:
            return "https" if default in ("", "http") and _may_be_https(choices) else default
        fixed = isinstance(choices, list) and len(choices) == 1
        is_path = "/" in default and "://" not in default
        return default.strip("/") if default and (fixed or is_path) else match[0]

    return _VARIABLE.sub(value, url)


def _may_be_https(choices: Any) -> bool:
    return not isinstance(choices, list) or "https" in choices


def _encrypted(url: str) -> str:
    """Over https, but for this machine's own services."""
    loopback = "{" not in url and urlsplit(url).hostname in LOOPBACK_NAMES
    return url if loopback or not url.startswith("http://") else f"https://{url.removeprefix('http://')}"


def _field(document: Document, name: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """What a person is asked for a variable; a choice that has a default is made already."""
    variable = document.refs.object(variables.get(name))
    default, choices = variable.get("default"), variable.get("enum")
    about = words.one_sentence(variable.get("description"))
    field: dict[str, Any] = {"name": words.field(name), "label": words.label(name)}
    if about:
        field["description"] = about
    if isinstance(choices, list) and choices:
        field["options"] = [str(choice) for choice in choices]
    if default not in (None, "") and (not field.get("options") or str(default) in field["options"]):
        field["default"] = str(default)
    return field
