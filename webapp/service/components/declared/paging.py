"""Reads lists of an app: one page and the cursor of the next, or all pages up to a limit."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

from webapp.service.components.declared.form import Listing, Pages
from webapp.service.components.declared.requests import read, send
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import Scope, fill, parse
from webapp.service.components.errors import HttpError
from webapp.service.components.http import HttpResponse
from webapp.service.outbound.bodies import at_path

_BETWEEN_LINKS = re.compile(r",\s*(?=<)")


@dataclass(frozen=True, slots=True)
class Page:
    """The items of one page, the whole response, and the cursor, number or URL of the next page."""

    items: list[Any] = field(repr=False)
    answer: Any = field(repr=False)
    next: Any = None


def page(session: Session, listing: Listing, scope: Scope, at: Any = None, left: int | None = None) -> Page:
    """Return the first page of ``listing``, or the page ``at``, with at most ``left`` items."""
    pages = listing.pages
    if pages is None:
        answer = send(session, listing, scope)
        body = read(listing, answer)
        return Page(_items(listing, body, scope), body)
    by_address = at if pages.by in ("link", "url") and at else ""
    answer = send(session, listing, scope, _sent(pages, at, left), pages.place, url=by_address)
    body = read(listing, answer)
    rows = _rows(listing, body, scope)
    return Page(_chosen(listing, rows, scope), body, _next(pages, answer, body, rows, at))


def gather(session: Session, listing: Listing, scope: Scope) -> tuple[list[Any], Any]:
    """Return all items of ``listing`` up to the limit, and its last response. Raises :class:`ComponentError`."""
    pages = listing.pages
    most = _most(pages, scope) if pages else None
    items: list[Any] = []
    seen: set[str] = set()
    current = page(session, listing, scope, left=most)
    for _ in range(pages.cap if pages else 1):
        items += current.items
        if current.next is None or (most is not None and len(items) >= most) or str(current.next) in seen:
            break
        seen.add(str(current.next))
        try:
            current = page(session, listing, scope, current.next, None if most is None else most - len(items))
        except HttpError as error:
            if pages is None or not pages.partial:
                raise
            session.log(f"The app gave no more than the first {len(items)}. {error}")
            break
    return items[:most], current.answer


def _most(pages: Pages, scope: Scope) -> int:
    wanted = parse(pages.most).value(scope) if isinstance(pages.most, str) else pages.most
    return wanted if isinstance(wanted, int) and wanted > 0 else 1000


def _sent(pages: Pages, at: Any, left: int | None) -> Mapping[str, Any]:
    """The parameters that select the page. Only pages by cursor may vary in size; others would shift."""
    size = max(pages.least, min(pages.size, left)) if left is not None and pages.by == "cursor" else pages.size
    sized = {pages.size_param: size} if pages.size_param else {}
    if pages.by == "page":
        return {**sized, pages.param: pages.start if at is None else at}
    if at is None or pages.by in ("link", "url"):
        return sized
    return {**sized, pages.param: at}


def _next(pages: Pages, answer: HttpResponse, body: Any, rows: list[Any], at: Any) -> Any:
    if pages.more and not at_path(body, pages.more):
        return None
    if pages.by == "link":
        return next_link(answer)
    if pages.next:
        following = at_path(body, pages.next) or None
        return following if pages.by != "url" or isinstance(following, str) else None
    if not rows:
        return None
    if pages.last:
        return at_path(rows[-1], pages.last)
    if not pages.more and pages.size_param and len(rows) < pages.size:
        return None
    return (pages.start if at is None else at) + 1 if pages.by == "page" else (at or 0) + len(rows)


def next_link(answer: HttpResponse) -> str | None:
    """The URL of the next page in the header ``Link`` (RFC 8288), or None."""
    links: list[str] = _BETWEEN_LINKS.split(answer.headers.get("link", ""))
    for link in links:
        target, _, parameters = link.strip().removeprefix("<").partition(">")
        if target and any(_says_next(parameter) for parameter in parameters.split(";")):
            try:
                return urljoin(answer.url, target)
            except ValueError:
                return None
    return None


def _says_next(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip().lower() == "rel" and "next" in value.strip(' \t,"').lower().split()


def _items(listing: Listing, body: Any, scope: Scope) -> list[Any]:
    return _chosen(listing, _rows(listing, body, scope), scope)


def _rows(listing: Listing, body: Any, scope: Scope) -> list[Any]:
    items = listing.items
    rows = parse(items).value({**scope, "$answer": body}) if "{" in items else at_path(body, items)
    return list(rows.values()) if isinstance(rows, Mapping) else rows if isinstance(rows, list) else []


def _chosen(listing: Listing, rows: list[Any], scope: Scope) -> list[Any]:
    for path, wanted in listing.where.items():
        accepted = fill(wanted, scope)
        if accepted not in (None, [], ""):
            rows = [row for row in rows if at_path(row, path) in _several(accepted)]
    return sorted(rows, key=lambda row: _rank(at_path(row, listing.sort))) if listing.sort else rows


def _rank(value: Any) -> tuple[bool, float, str]:
    """A sort key: numbers first, then texts."""
    is_number = isinstance(value, int | float)
    return not is_number, value if is_number else 0, str(value)


def _several(value: Any) -> Iterator[Any]:
    return iter(value if isinstance(value, list) else [value])
