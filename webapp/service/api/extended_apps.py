"""Apps with the whole API of their provider, for administrators of the workspace; all projects' catalogs have them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from flask import Response
from pydantic import BeforeValidator, Field, WithJsonSchema

from webapp.kit.clock import iso
from webapp.service.api.base.call import Call, answer, no_content
from webapp.service.api.base.models import Answer, Body, Data, DateTime, Flag, Limit, Query
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.base import token_scopes
from webapp.service.domain.instance import api_extensions, app_imports
from webapp.service.domain.instance.api_extensions import Release, View
from webapp.service.pieces import package_archives

if TYPE_CHECKING:
    from webapp.service.catalog.importing.extensions import Change, Listed

MOST_FOUND, MOST_DIGITS = 200, 6
ALL, ONE = "/v1/extended_apps", "/v1/extended_apps/<slug>"
operations = Operations(
    Group("Whole APIs", "Everything that an app's provider describes, as further actions of the app."),
    PathParameter("slug", "The slug of the app.", "github"),
    read=(token_scopes.ALL,),
    write=(token_scopes.ALL,),
    connect=False,
    extension=True,
    workspace=True,
)


def _offset(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise ValueError(f"Use a whole number of at most {MOST_DIGITS} digits.")
    return int(text)


Offset = Annotated[
    int, BeforeValidator(_offset), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 10**MOST_DIGITS - 1})
]


class ApiSearch(Query):
    """Which operations are listed; without any of it, all are."""

    q: str = Field("", max_length=400, description="Words of a title, a path or a tag; all must match.")
    tag: str | None = Field(None, description="Only the operations of this tag.")
    summary: Flag = Field(False, description="No operations, only their tags.")
    offset: Offset = Field(0, description="How many to skip.")
    limit: Limit | None = Field(None, description="How many at most; without it, 200 of a search, and otherwise all.")


class ApiChoice(Body):
    """Which operations are actions. Without `only` and `add`, all that are not deprecated."""

    only: list[str] | None = Field(
        None, max_length=5000, description="Tags, operation ids, or methods and paths; no others are actions then."
    )
    add: list[str] | None = Field(
        None, max_length=5000, description="Tags, or methods and paths, beside those that are on already."
    )
    remove: list[str] = Field(
        [], max_length=5000, description="With `add`: tags, or methods and paths, that are off from now on."
    )
    hosts: list[str] = Field([], max_length=50, description="Hosts that the app does not have, which you confirm.")
    preview: bool = Field(False, description="Report what would change, and change nothing.")


class ApiRelease(Body):
    """A release of a package, as a preview named it."""

    package: str = Field(examples=["npm:@octokit/openapi"])
    version: str = Field(max_length=60, pattern=package_archives.VERSION)
    integrity: str = Field(max_length=200, pattern=package_archives.INTEGRITY)


class ApiUpdate(Body):
    """Without `releases`, the newest are looked up and nothing changes; with those of that report, they are used."""

    releases: list[ApiRelease] = Field([], max_length=50, description="The releases to use, as a report named them.")


class ApiOperation(Answer):
    """An operation. `action` is the key of what it is, or would be; null if it cannot be one, for the `reason`."""

    operation: str = Field(examples=["GET /user"])
    title: str = Field(examples=["Get the authenticated user"])
    tag: str = Field(examples=["users"])
    action: str | None = Field(examples=["github-api-users-get-authenticated"])
    on: bool
    deprecated: bool
    reason: str | None = Field(examples=[None])


class ApiOrigin(Answer):
    """A document: the package in which it is, its exact version and integrity, and when it was brought.

    `operations` and `actions` are numbers, and 0 until it was brought. `waiting_hosts` are hosts that the app does not
    have, with the number of operations there.
    """

    name: str = Field(examples=["api"])
    package: str = Field(examples=["npm:@octokit/openapi"])
    version: str = Field(examples=["23.0.2"])
    integrity: str = Field(examples=["sha512-…"])
    source: str = Field(examples=["https://github.com/octokit/openapi"])
    brought_at: DateTime | None
    document_version: str = Field(examples=["1.1.4"])
    operations: int
    actions: int
    hosts: list[str] = Field(examples=[[]])
    waiting_hosts: dict[str, int] = Field(examples=[{}])


class ExtendedApp(Answer):
    """An app whose provider describes its whole API."""

    name_slug: str = Field(examples=["github"])
    name: str = Field(examples=["GitHub"])
    documents: list[ApiOrigin]


class ApiTag(Answer):
    """A group of operations: their number, how many are on, and how many could be; those are not deprecated."""

    tag: str = Field(examples=["users"])
    operations: int
    on: int
    possible: int


class ExtendedAppDetails(ExtendedApp):
    """The same, with the operations of the documents that were brought: all, or those that match.

    `matching` is their number, also where fewer are listed.
    """

    operations: list[ApiOperation]
    tags: list[ApiTag]
    matching: int


class ExtensionReport(ExtendedApp):
    """What changed, or would: keys of actions. `removed_runs` is how often removed ones ran in the last 30 days."""

    operations: list[ApiOperation]
    preview: bool
    added: list[str] = Field(examples=[["github-api-gists-list"]])
    changed: list[str] = Field(examples=[[]])
    removed: list[str] = Field(examples=[[]])
    notes: list[str] = Field(examples=[[]])
    removed_runs: dict[str, int] = Field(examples=[{}])


@operations.get(ALL, answer=Data[list[ExtendedApp]])
def list_extended_apps(call: Call) -> Response:
    """The apps to whose actions the whole API was added, by slug."""
    slugs = dict.fromkeys(each.slug for each in api_extensions.listed(call.service))
    return answer({"data": [_app(call, slug) for slug in slugs if call.service.catalog.app(slug)]})


@operations.get(ONE, answer=ExtendedAppDetails, query=ApiSearch)
def get_extended_app(call: Call) -> Response:
    """An app with the operations of its whole API; 404 for one whose provider's description is not known."""
    return answer(_details(call, call.query(ApiSearch)))


@operations.put(
    ONE,
    answer=ExtensionReport,
    body=ApiChoice,
    errors=(409, 502),
    example=Example(path={"slug": "$EXTENDED_APP"}, body={"preview": True}),
)
def extend_app(call: Call) -> Response:
    """Choose which operations are actions; the description is brought from its registry first, if it is not here."""
    from webapp.service.catalog.importing.extensions import Choice

    order, slug = call.body(ApiChoice), call.path["slug"]
    runs = app_imports.uses(call.service, slug).runs
    if order.add is not None:
        changes = api_extensions.switch(call.service, slug, order.add, order.remove, order.hosts, preview=order.preview)
    else:
        choice = Choice(None if order.only is None else tuple(order.only), tuple(order.hosts))
        changes = api_extensions.choose(call.service, slug, choice, preview=order.preview)
    return answer(_report(call, changes, runs, preview=order.preview))


@operations.post(
    f"{ONE}/update",
    answer=ExtensionReport,
    body=ApiUpdate,
    errors=(409, 502),
    example=Example(path={"slug": "$EXTENDED_APP"}, body={"releases": []}),
)
def update_extended_app(call: Call) -> Response:
    """Look at the newest releases of the description, or use those that were looked at."""
    releases = [Release(each.package, each.version, each.integrity) for each in call.body(ApiUpdate).releases]
    slug = call.path["slug"]
    runs = app_imports.uses(call.service, slug).runs
    brought = api_extensions.bring(call.service, slug, releases=releases)
    changes = api_extensions.update(call.service, slug, brought, preview=not releases)
    return answer(_report(call, changes, runs, preview=not releases))


@operations.delete(ONE, example=Example(path={"slug": "$EXTENDED_APP"}))
def delete_app_extension(call: Call) -> Response:
    """Remove the actions of the whole API; the app's own, and accounts, stay."""
    api_extensions.remove(call.service, call.path["slug"])
    return no_content()


def _app(call: Call, slug: str) -> dict[str, Any]:
    known = api_extensions.app(call.service, slug)
    views = api_extensions.views(call.service, known)
    return {"name_slug": known.slug, "name": known.name, "documents": [_document(view) for view in views]}


def _details(call: Call, search: ApiSearch) -> dict[str, Any]:
    known = api_extensions.app(call.service, call.path["slug"])
    views = api_extensions.views(call.service, known)
    every = [each for view in views if view.extension for each in view.extension.operations]
    is_whole = search.tag is None and not search.q
    matching = every if is_whole else [each for each in every if _matches(each, search)]
    limit = search.limit or (MOST_FOUND if search.q else len(matching))
    shown = [] if search.summary else matching[search.offset : search.offset + limit]
    return {
        **_app(call, known.slug),
        "operations": [_operation(known.slug, each) for each in shown],
        "tags": _tags(every),
        "matching": len(matching),
    }


def _matches(each: "Listed", search: ApiSearch) -> bool:
    if search.tag is not None and each.tag != search.tag:
        return False
    text = f"{each.title} {each.id} {each.tag}".lower() if search.q else ""
    return all(word in text for word in search.q.lower().split())


def _tags(every: "Sequence[Listed]") -> list[dict[str, Any]]:
    """The tags by their names."""
    grouped: dict[str, list[Listed]] = {}
    for each in every:
        grouped.setdefault(each.tag, []).append(each)
    return [
        {
            "tag": tag,
            "operations": len(grouped[tag]),
            "on": sum(each.on for each in grouped[tag]),
            "possible": sum(bool(each.action) and not each.deprecated for each in grouped[tag]),
        }
        for tag in sorted(grouped, key=str.lower)
    ]


def _document(view: View) -> dict[str, Any]:
    here, place = view.extension, view.place
    origin = here.origin if here else place
    return {
        "name": view.facts.name,
        "package": origin.package,
        "version": origin.version,
        "integrity": origin.integrity,
        "source": view.facts.source,
        "brought_at": iso(here.origin.brought_at) if here else None,
        "document_version": here.version if here else "",
        "operations": len(here.operations) if here else 0,
        "actions": here.count if here else 0,
        "hosts": list(here.hosts) if here else [],
        "waiting_hosts": dict(here.waiting) if here else {},
    }


def _operation(slug: str, each: Any) -> dict[str, Any]:
    return {
        "operation": each.id,
        "title": each.title,
        "tag": each.tag,
        "action": f"{slug}-{each.action}" if each.action else None,
        "on": each.on,
        "deprecated": each.deprecated,
        "reason": each.reason or None,
    }


def _report(call: Call, changes: "Sequence[Change]", runs: Any, *, preview: bool) -> dict[str, Any]:
    known = api_extensions.app(call.service, call.path["slug"])
    views = {view.facts.name: view for view in api_extensions.views(call.service, known)}
    shown = [View(views[e.document].facts, views[e.document].place, e) for e in (each.extension for each in changes)]

    def keys(names: str) -> list[str]:
        return [f"{known.slug}-{name}" for change in changes for name in getattr(change, names)]

    return {
        "name_slug": known.slug,
        "name": known.name,
        "documents": [_document(view) for view in shown],
        "operations": [_operation(known.slug, each) for change in changes for each in change.extension.operations],
        "preview": preview,
        "added": keys("added"),
        "changed": keys("changed"),
        "removed": keys("removed"),
        "notes": [note for change in changes for note in change.notes],
        "removed_runs": {
            f"{known.slug}-{name}": runs[name] for change in changes for name in change.removed if name in runs
        },
    }
