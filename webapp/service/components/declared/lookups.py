"""Finds the options of a prop, and the props that depend on the values so far, by requests of the form.

Callers receive the cursor of the next page, so it contains nothing secret.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from webapp.service.components import loader
from webapp.service.components.declared import steps
from webapp.service.components.declared.form import Kind, Lookup, Reload
from webapp.service.components.declared.paging import gather, page
from webapp.service.components.declared.patterns import Pattern
from webapp.service.components.declared.requests import first_address, has_values
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import fill, parse, texts_in
from webapp.service.components.errors import ComponentError
from webapp.service.components.masking import Mask
from webapp.service.components.options import Option, Options
from webapp.service.components.props import Prop, as_json_text
from webapp.service.outbound.bodies import at_path
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import parse_url

Cursor = str | int | None
PAGES_AT_ONCE = 5  # are searched for a query where the app cannot search
CURSOR = "cursor"
FOREIGN_CURSOR = "The cursor belongs to another list, sort or filter; start again without it."


def _passable(session: Session, lookup: Lookup, at: object) -> Cursor:
    """The cursor ``at`` in a form that a caller may see and send back; None if there is none."""
    if lookup.pages is None or lookup.pages.by not in ("link", "url"):
        return at if isinstance(at, str | int) else None
    return _address(session, lookup, at) if isinstance(at, str) else None


def _address(session: Session, lookup: Lookup, at: str) -> str | None:
    """An absolute URL without parameters that contain a secret of the account; requests add those again."""
    own = parse_url(session.http.absolute(first_address(session, lookup, session.scope)))
    following = parse_url(session.http.absolute(at))
    if isinstance(own, Failure) or isinstance(following, Failure) or own.origin != following.origin:
        return None
    path, _, query = following.target.partition("?")
    if path != own.target.partition("?")[0]:
        return None
    masks = [Mask.of_account(grant) for grant in session.call.accounts.values()]
    kept = "&".join(each for each in query.split("&") if not any(_holds_secret(mask, each) for mask in masks))
    address = f"{following.scheme}://{following.authority}{path}" + (f"?{kept}" if kept else "")
    return None if _holds_secret(Mask.of(session.call), address) else address


def _holds_secret(mask: Mask, text: str) -> bool:
    return any(mask(form) != form for form in (text, unquote_plus(text)))


Offer = tuple[str | None, Any]


def options(session: Session, name: str) -> dict[str, Any]:
    """Return one page of options of the prop ``name`` and the cursor of the next. Raises :class:`ComponentError`."""
    fields = session.form.props.get(name)
    lookup = fields.options if fields else None
    if not isinstance(lookup, Lookup):
        raise ComponentError(f"The prop {name} has no options to look up.")
    steps.take(session, lookup.steps)
    sought = (session.call.query or "").strip().casefold() if fields and not _app_searches(lookup) else ""
    offers, following = _offers(session, lookup, sought)
    items = [str(value) if label is None else Option(label, value) for label, value in offers]
    return Options(items, following).to_json(name)


def reload(session: Session) -> list[dict[str, Any]]:
    """Return all props of the component as the API lists them, those found by its request last."""
    follow = session.form.reload
    added = _added_props(session, follow) if follow else {}
    return loader.to_json({**session.declared.props, **added})


def _added_props(session: Session, follow: Reload) -> dict[str, Prop]:
    """The props found by a request, by name; none while its URL lacks a value. They never replace declared props."""
    if not any(has_values(url, session.scope, but="$steps") for url in follow.url):
        return {}
    added = {str(parse(follow.name).text(scope)): _prop(kind, scope) for kind, scope in _fields(session, follow)}
    return {name: prop for name, prop in added.items() if name not in session.declared.props}


def field_values(session: Session, follow: Reload) -> dict[str, Any]:
    """The values of the added props by the keys of their fields, each in the app's form."""
    added = {name: value for name, value in session.call.props.items() if name not in session.declared.props}
    values: dict[str, Any] = {}
    if not added:
        return values
    if prefix := _prefix(follow):
        values = {name.removeprefix(prefix): value for name, value in added.items() if name.startswith(prefix)}
        return {key: value for key, value in values.items() if value is not None}
    for kind, scope in _fields(session, follow):
        value = added.get(parse(follow.name).text(scope))
        if value in (None, "", []):
            continue
        if kind.pattern and isinstance(value, str) and not Pattern(kind.pattern).fullmatch(value.strip()):
            raise ComponentError(parse(kind.advice).text({**scope, "$value": value}))
        written = value if kind.write is None else fill(kind.write, {**scope, "$value": value})
        values[parse(follow.key).text(scope)] = written
    return values


def _prefix(follow: Reload) -> str | None:
    """The common prefix of the added props' names, if the rest is the key and values are sent unchanged: then the
    values are known without a request."""
    if any(kind.write is not None or kind.pattern for kind in follow.kinds.values()) or "|" in follow.name:
        return None
    prefix = follow.name.removesuffix(follow.key)
    return prefix if follow.name.endswith(follow.key) and "{" not in prefix else None


def _app_searches(lookup: Lookup) -> bool:
    templates = (lookup.url, lookup.params, lookup.json_, lookup.form)
    return any("$query" in text for template in templates for text in texts_in(template))


def _offers(session: Session, lookup: Lookup, sought: str) -> tuple[list[Offer], dict[str, Any] | None]:
    pages, number = lookup.pages, session.call.page
    if pages is None or pages.by in ("page", "offset"):
        return _numbered(session, lookup, sought, number), None
    came = session.call.previous.get(CURSOR)
    at: Any = _passable(session, lookup, came) if came else None
    if came and not at:
        raise ComponentError(FOREIGN_CURSOR)
    if number and not at:
        return [], None
    offers: list[Offer] = []
    for _ in range(PAGES_AT_ONCE):
        current = page(session, lookup, session.scope, at)
        offers += _matching(session, lookup, current.items, sought)
        at = current.next
        following = _passable(session, lookup, at) if at else None
        if not at or (offers and following):
            break
    return offers, {CURSOR: following} if following else None


def _numbered(session: Session, lookup: Lookup, sought: str, number: int) -> list[Offer]:
    """A page by its number; a search covers several pages and returns one."""
    pages = lookup.pages
    if number and (pages is None or sought):
        return []
    offers: list[Offer] = []
    at = None if pages is None else number + pages.start if pages.by == "page" else number * pages.size
    for _ in range(PAGES_AT_ONCE if sought and pages else 1):
        current = page(session, lookup, session.scope, at or None if pages and pages.by == "offset" else at)
        offers += _matching(session, lookup, current.items, sought)
        at = current.next
        if at is None:
            break
    return offers


def _matching(session: Session, lookup: Lookup, items: list[Any], sought: str) -> list[Offer]:
    steps.take(session, lookup.after, items=items)
    offers = (_offer(lookup, session.with_(item=item)) for item in items)
    return [
        (label, value)
        for label, value in offers
        if value is not None and (label or lookup.label is None) and sought in str(label or value).casefold()
    ]


def _offer(lookup: Lookup, scope: Mapping[str, Any]) -> Offer:
    label = parse(lookup.label).text(scope).strip() if lookup.label else None
    return label, parse(lookup.value).value(scope)


def _fields(session: Session, follow: Reload) -> Iterator[tuple[Kind, Mapping[str, Any]]]:
    """The fields that the request finds, each with its kind and scope; fields of unknown kinds are left out."""
    steps.take(session, follow.steps)
    items, _ = gather(session, follow, session.scope)
    for item in items:
        scope = session.with_(item=item)
        kind = follow.kinds.get(parse(follow.kind).text(scope)) or follow.kinds.get("*")
        if kind is not None:
            yield kind, scope


def _prop(kind: Kind, scope: Mapping[str, Any]) -> Prop:
    optional = kind.optional if isinstance(kind.optional, bool) else bool(parse(kind.optional).value(scope))
    choices = parse(kind.options).value(scope) if kind.options else None
    prop = Prop(
        kind.type,
        label=parse(kind.label).text(scope),
        description=parse(kind.description).text(scope) or None,
        optional=optional,
        default=fill(kind.default, scope),
        options=[_choice(kind, each) for each in choices] if isinstance(choices, list) and choices else None,
    )
    return as_json_text(prop) if kind.type == "any" else prop


def _choice(kind: Kind, item: Any) -> Option:
    label, value = at_path(item, kind.option_label), at_path(item, kind.option_value)
    return Option(str(label), value if isinstance(value, str | int) else str(value))
