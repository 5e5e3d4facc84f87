"""How accounts of an API sign in: its security schemes as fields, credentials and OAuth of an app."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from webapp.errors import Invalid
from webapp.service.catalog.importing import oauth, words
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.schemes import NONE, About, Parts, SignIn, add_field, add_http, add_key, by_hand

_ORDER = ("bearer", "key", "basic", "session", "oauth", "token")
_MOST_WAYS = 50
_BY_HAND = "An access token, which is entered by hand and not renewed."


def needed(document: Document, operation: Operation) -> list[tuple[str, ...]]:
    """The ways to sign in of which ``operation`` needs one; () among them where it needs none."""
    listed = operation.node.get("security", document.root.get("security"))
    if not isinstance(listed, list):
        return [(name,) for name in islice(_schemes(document), _MOST_WAYS)] or [()]
    ways = [tuple(sorted(map(str, way))) for way in listed[:_MOST_WAYS] if isinstance(way, Mapping)]
    return ways or [()]


def choices(document: Document, operations: Iterable[Operation], about: About) -> tuple[list[SignIn], dict[str, str]]:
    """The ways to sign in that can be said, the best first, and why the others cannot, by their names."""
    counts = Counter(way for operation in operations for way in needed(document, operation))
    ways, refused = list[tuple[int, SignIn]](), dict[str, str]()
    for way, count in counts.most_common(_MOST_WAYS):
        if not way:
            continue
        try:
            ways.append((count, _sign_in(document, way, about)))
        except ValueError as error:
            refused[" + ".join(way)] = str(error)
    ways.sort(key=lambda each: (-each[0], each[1].order, each[1].names))
    return [way for _, way in ways] or ([NONE] if not refused else []), refused


def chosen(ways: list[SignIn], refused: Mapping[str, str], wanted: str, docs_url: str) -> SignIn:
    """The way called ``wanted`` (``a + b`` of two schemes), else the best. Raises :class:`Invalid`.

    ``none``, and what :func:`by_hand` knows, may be wanted whatever the document says.
    """
    if wanted == "none":
        return NONE
    if way := by_hand(wanted, docs_url):
        return way
    if not wanted:
        if ways:
            return ways[0]
        told = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
        raise Invalid.of("auth", f"No way to sign in can be imported. {told}.")
    if wanted in refused:
        raise Invalid.of("auth", f"{wanted} cannot be imported: {refused[wanted]}.")
    names = tuple(sorted(part.strip() for part in wanted.split("+")))
    way = next((each for each in ways if each.names == names), None)
    if way is None:
        known = ", ".join(" + ".join(each.names) for each in ways)
        raise Invalid.of("auth", f"There is no way to sign in called {wanted[:100]!r}; there is {known or 'none'}.")
    return way


def _schemes(document: Document) -> Mapping[str, Any]:
    components = document.refs.object(document.root.get("components"))
    return document.refs.object(components.get("securitySchemes"))


def _sign_in(document: Document, way: tuple[str, ...], about: About) -> SignIn:
    """Raises ``ValueError`` with the reason why ``way`` cannot be said."""
    parts, schemes = Parts(), _schemes(document)
    for name in way:
        if name not in schemes:
            raise ValueError(f"the document does not describe {name}")
        _add(parts, document, name, document.refs.object(schemes[name]), about, alone=len(way) == 1)
    return SignIn(
        way,
        "oauth" if parts.oauth else "keys",
        tuple(parts.fields),
        tuple(parts.credentials),
        parts.oauth,
        parts.session,
        max(_ORDER.index(kind) for kind in parts.kinds),
        tuple(parts.notes),
    )


def _add(parts: Parts, document: Document, name: str, scheme: Mapping[str, Any], about: About, *, alone: bool) -> None:
    kind = str(scheme.get("type", "")).lower()
    sentence = words.one_sentence(scheme.get("description"))
    if kind == "http":
        add_http(parts, name, scheme, sentence, about.docs_url, alone=alone)
    elif kind == "apikey":
        add_key(parts, name, scheme, sentence, about.docs_url, alone=alone)
    elif kind in ("oauth2", "openidconnect"):
        if "oauth" in parts.kinds or "session" in parts.kinds or "token" in parts.kinds:
            raise ValueError("it needs two sign-ins at once")
        _tokens(parts, document, scheme, about, sentence)
    else:
        raise ValueError(f"{name} is {str(scheme.get('type') or 'of no type')[:40]}, which accounts cannot have")


def _tokens(parts: Parts, document: Document, scheme: Mapping[str, Any], about: About, sentence: str) -> None:
    """Tokens that a person's sign-in gives, or the exchange of a client's own credentials; else one by hand."""
    parts.oauth = oauth.facts(document, scheme, about)
    parts.session = None if parts.oauth else oauth.session(document, scheme, about)
    value = {} if parts.oauth else {"value": "{session_token}" if parts.session else "{access_token}"}
    parts.credentials.append({"place": "bearer", "source": about.docs_url, **value})
    parts.kinds.append("oauth" if parts.oauth else "session" if parts.session else "token")
    if parts.session:
        add_field(parts, "client_id", "Client ID", sentence, secret=False)
        add_field(parts, "client_secret", "Client secret", "")
    elif not parts.oauth:
        parts.notes.append(_BY_HAND)
        add_field(parts, "access_token", "Access token", sentence)


def elsewhere(way: SignIn, host: str) -> Iterator[str]:
    """A sentence for each host but the API's own to which the credentials of a client go."""
    addresses = [(way.session or {}).get("url"), (way.oauth or {}).get("token_url")]
    for other in {url.partition("://")[2].partition("/")[0] for url in addresses if url} - {host}:
        yield f"The client's id and secret go to {other[:200]}, which gives a token for them."
