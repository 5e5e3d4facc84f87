"""Apps that are imported from OpenAPI documents or MCP servers, for administrators of the workspace; all projects'
catalogs have them.
"""

import base64
import binascii
import zlib
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from flask import Response
from pydantic import Field

from webapp.body_limits import API_DOCUMENT
from webapp.errors import Invalid
from webapp.kit.clock import iso
from webapp.service.api.base.call import Call, answer, no_content
from webapp.service.api.base.models import Answer, AppOrigin, Body, Data, DateTime
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.catalog.importing.records import MOST_ACTIONS, Options, Summary
from webapp.service.domain.base import token_scopes
from webapp.service.domain.components import held_tools
from webapp.service.domain.instance import app_imports, mcp_servers
from webapp.service.domain.instance.app_imports import Source
from webapp.service.domain.instance.mcp_servers import Asker
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

if TYPE_CHECKING:
    from webapp.service.catalog.importing.files import Written
    from webapp.service.catalog.importing.operations import Operation
    from webapp.service.catalog.importing.plans import Plan

GZIP = "data:application/gzip;base64,"
ALL, ONE = "/v1/imported_apps", "/v1/imported_apps/<slug>"
operations = Operations(
    Group("Imported apps", "Any API as an app, by its OpenAPI document, and any MCP server, by its address."),
    PathParameter("slug", "What the app is called in addresses and keys.", "acme_shop"),
    read=(token_scopes.ALL,),
    write=(token_scopes.ALL,),
    connect=False,
    extension=True,
    workspace=True,
)
_DOCUMENT = (
    '{"openapi": "3.1.0", "info": {"title": "Acme", "version": "1"}, "servers": [{"url": "https://api.example.com"}], '
    '"paths": {"/me": {"get": {"operationId": "getMe"}}}}'
)


class McpServer(Body):
    """An MCP server whose tools become actions. They are listed as a stranger may see them, with a `key` that is used
    once, or with an account of the app, of this `project_id` and `environment`.
    """

    url: str = Field(max_length=2000, description="Its address.", examples=["https://mcp.example.com/mcp"])
    key: str = Field("", max_length=16_000, description="A key or token, sent as `auth` says, and not kept.")
    account_id: str = Field("", max_length=60, description="An account of the app, instead.")
    project_id: str = Field("", max_length=60, description="The project of the account.")
    environment: str = Field("production", max_length=20, description="The environment of the account.")


class AppImport(Body):
    """A document or its address, and the choices; omitted choices are made automatically, or unchanged."""

    document: str | None = Field(
        None, description="The document: JSON, YAML, or either as `data:application/gzip;base64,…`."
    )
    url: str | None = Field(None, description="The URL of the document, instead of its text.")
    directory: str | None = Field(
        None,
        max_length=300,
        description="Its name in the public directory, such as `googleapis.com:calendar`, instead.",
    )
    mcp: McpServer | None = Field(None, description="An MCP server, instead.")
    source: str = Field("", description="The name of the file that it came from.")
    only: list[str] = Field(
        [], max_length=5000, description="Groups, operation ids, or methods and paths such as `GET /me`."
    )
    auth: str = Field(
        "",
        description="How accounts sign in: a security scheme, `bearer`, `basic`, `header:NAME`, `query:NAME`, `none`.",
    )
    server: str = Field("", description="The address of the API.")
    test: str = Field("", description="The operation or path that tests an account.")
    name: str = Field("", description="What people read.")
    category: str = Field("", description="A category of the catalog, by its slug.")
    docs_url: str = Field("", description="Where people read about the API.")
    preview: bool = Field(False, description="Report what would be imported, and change nothing.")


class ImportedApp(Answer):
    """An app that was imported. `source` is the address or the name of its document, or `mcp:` and the address of its
    server; `directory` is its name in the public directory, or empty. `held` are its actions that were not run because
    their tool has changed at the server, or is gone: importing again shows the change, and accepts it.
    """

    name_slug: str = Field(examples=["acme_shop"])
    name: str = Field(examples=["Acme Shop"])
    version: str = Field(examples=["1.4.0"])
    source: str = Field(examples=["https://api.example.com/openapi.json"])
    directory: str = Field(examples=[""])
    imported_at: DateTime
    actions: int = Field(examples=[12])
    accounts: int = Field(examples=[3])
    held: list[str] = Field(examples=[["acme_shop-search-notes"]])


class ImportOperation(Answer):
    """An operation of a document.

    `action` is what it becomes; null if it becomes none, with the `reason` if there is one. `notes` are parts of it
    that are left out.
    """

    operation: str = Field(examples=["GET /me"])
    title: str = Field(examples=["Get me"])
    tags: list[str] = Field(examples=[["Users"]])
    deprecated: bool
    action: str | None = Field(examples=["get-me"])
    notes: list[str] = Field(examples=[[]])
    reason: str | None = Field(examples=[None])


class ImportGroup(Answer):
    """A tag, or the first part of the paths of operations without one, and how many operations it has."""

    name: str = Field(examples=["Users"])
    operations: int = Field(examples=[12])


class ImportTool(Answer):
    """A tool of an MCP server that is not as it was when the app was imported last: its description and schemas
    `before` and `after`, empty for a tool that is new or gone. Long ones begin shortly before the first difference.
    """

    name: str = Field(examples=["search_notes"])
    before: str = Field(examples=['Finds notes.\n{"inputSchema": {"type": "object"}}'])
    after: str = Field(examples=['Finds your notes.\n{"inputSchema": {"type": "object"}}'])


class ImportReport(Answer):
    """The result of an import or its preview. The `…_choices` are the possible choices; `hosts` are those that get
    credentials.

    `excess` is how many operations were chosen where these are more than `most`, which an app may have; the preview has
    no operations then, and an import is refused. Of a document that has more than that, `operations` are only those
    that were chosen, by `groups`.

    `by_hand` are files that were changed by hand, which are kept. `removed_runs` is how often removed actions ran in
    the last 30 days.
    """

    name_slug: str = Field(examples=["acme_shop"])
    name: str = Field(examples=["Acme Shop"])
    version: str = Field(examples=["1.4.0"])
    preview: bool
    auth: str = Field(examples=["apiKey"])
    auth_choices: list[str] = Field(examples=[["apiKey", "oauth"]])
    server: str | None = Field(examples=["https://api.example.com/v1"])
    server_choices: list[str] = Field(examples=[["https://api.example.com/v1"]])
    test: str = Field(examples=["GET /me"])
    test_choices: list[str] = Field(examples=[["GET /me"]])
    hosts: list[str] = Field(examples=[["api.example.com"]])
    operations: list[ImportOperation]
    groups: list[ImportGroup]
    total: int = Field(examples=[37], description="How many operations the document has.")
    excess: int = Field(examples=[0])
    most: int = Field(examples=[1500])
    added: list[str] = Field(examples=[["get-me"]])
    changed: list[str] = Field(examples=[[]])
    same: list[str] = Field(examples=[[]])
    removed: list[str] = Field(examples=[[]])
    by_hand: list[str] = Field(examples=[[]])
    notes: list[str] = Field(examples=[[]])
    origin: AppOrigin | None = None
    removed_runs: dict[str, int] = Field(examples=[{}])
    tools: list[ImportTool] = Field(examples=[[]])


@operations.get(ALL, answer=Data[list[ImportedApp]])
def list_imported_apps(call: Call) -> Response:
    """Every app that was imported, by slug."""
    return answer({"data": [_listed(call, standing) for standing in app_imports.listed(call.service)]})


@operations.put(
    ONE,
    answer=ImportReport,
    body=AppImport,
    example=Example(body={"document": _DOCUMENT, "auth": "none", "preview": True}),
)
def import_app(call: Call) -> Response:
    """Import an app from a document, or update it; 409 for a slug that is taken."""
    order, slug = call.body(AppImport), call.path["slug"]
    runs = app_imports.uses(call.service, slug).runs
    written = _written(call, order, slug)
    return answer({**_report(written, preview=order.preview), "removed_runs": _of(runs, written.removed)})


@operations.delete(ONE, example=Example(path={"slug": "$IMPORTED_APP"}))
def delete_imported_app(call: Call) -> Response:
    """Remove an imported app with its actions; 409 while accounts of it are connected."""
    app_imports.remove(call.service, call.path["slug"])
    return no_content()


def _written(call: Call, order: AppImport, slug: str) -> "Written":
    if sum(each is not None for each in (order.document, order.url, order.directory, order.mcp)) != 1:
        raise Invalid.of("document", "Send either the document, its url, its name in the public directory, or mcp.")
    if order.mcp is not None:
        asker = _asker(call, order.mcp, order.auth)
        add = mcp_servers.preview if order.preview else mcp_servers.add
        return add(call.service, order.mcp.url, slug, asker, _options(order))
    bring = app_imports.preview if order.preview else app_imports.bring
    return bring(call.service, _source(call, order), slug, _options(order))


def _source(call: Call, order: AppImport) -> Source:
    if order.directory is not None:
        return app_imports.of_directory(call.service, order.directory)
    if order.url is not None:
        return app_imports.fetched(call.service, order.url)
    return Source(_content(order.document or ""), order.source[:200] or "a document")


def _asker(call: Call, server: McpServer, auth: str) -> Asker:
    scene = None
    if server.project_id:
        project = projects.get(call.service.store, server.project_id)
        scene = Scene(project.id, projects.environment(server.environment))
    return Asker(auth, server.key, server.account_id, scene)


def _content(text: str) -> bytes:
    if not text.startswith(GZIP):
        return text.encode()
    try:
        packed = base64.b64decode(text[len(GZIP) :], validate=True)
        return zlib.decompressobj(wbits=31).decompress(packed, API_DOCUMENT + 1)
    except (binascii.Error, zlib.error):
        raise Invalid.of("document", "It is no gzip in base64.") from None


def _options(order: AppImport) -> Options:
    return Options(tuple(order.only), order.auth, order.server, order.test, order.docs_url, order.category, order.name)


def _listed(call: Call, standing: Summary) -> dict[str, Any]:
    return {
        "name_slug": standing.slug,
        "name": standing.title,
        "version": standing.version,
        "source": standing.source,
        "directory": standing.directory,
        "imported_at": iso(standing.imported_at),
        "actions": standing.actions,
        "accounts": app_imports.accounts(call.service, standing.slug),
        "held": [each.component_key for each in held_tools.waiting(call.service.store, standing.slug)],
    }


def _report(written: "Written", *, preview: bool) -> dict[str, Any]:
    plan = written.plan
    actions = {action.operation.id: action for action in plan.actions}
    reasons = {each.operation: each.reason for each in plan.left}
    listed = [
        {
            "operation": each.id,
            "title": each.title,
            "tags": list(each.groups),
            "deprecated": each.deprecated,
            "action": actions[each.id].name if each.id in actions else None,
            "notes": list(actions[each.id].notes) if each.id in actions else [],
            "reason": reasons.get(each.id),
        }
        for each in _reported(plan, {*actions, *reasons})
    ]
    return {
        "name_slug": plan.slug,
        "name": plan.title,
        "version": plan.version,
        "preview": preview,
        "auth": plan.options.auth,
        "auth_choices": [" + ".join(way.names) or "none" for way in plan.sign_ins],
        "server": plan.app.get("base_url"),
        "server_choices": [url for url, _ in plan.servers],
        "test": plan.options.test,
        "test_choices": [each.id for each in plan.tests],
        "hosts": list(plan.app.get("allowed_hosts", ())),
        "operations": listed,
        "groups": [{"name": name, "operations": count} for name, count in plan.groups.items()],
        "total": len(plan.operations),
        "excess": plan.excess,
        "most": MOST_ACTIONS,
        "added": list(written.added),
        "changed": list(written.changed),
        "same": list(written.same),
        "removed": list(written.removed),
        "by_hand": list(written.by_hand),
        "notes": list(plan.notes),
        "origin": plan.app.get("origin"),
        "tools": [asdict(tool) for tool in written.tools],
    }


def _reported(plan: "Plan", concerned: Collection[str]) -> "Sequence[Operation]":
    """The operations that a report lists: all of them, unless these are very many."""
    if plan.excess:
        return []
    return [each for each in plan.operations if len(plan.operations) <= MOST_ACTIONS or each.id in concerned]


def _of(runs: Any, names: tuple[str, ...]) -> dict[str, int]:
    return {name: runs[name] for name in names if name in runs}
