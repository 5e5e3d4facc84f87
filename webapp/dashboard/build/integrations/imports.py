"""Importing an API by its OpenAPI document: a file, an address or one of the public directory, a preview, the import;
and adding an MCP server by its address, in the same steps.

An uploaded file is a draft until it is imported; a document at an address is fetched again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.apps import app_setup
from webapp.dashboard.build.integrations import integrations
from webapp.dashboard.build.integrations.drafts import Drafts
from webapp.dashboard.build.menu import by_field
from webapp.dashboard.client.build.imported_apps import Document, ImportedApps, ImportOperation, ImportReport, Server
from webapp.dashboard.client.models.accounts import Account
from webapp.dashboard.client.overview import read_accounts
from webapp.dashboard.dashboard import dashboard, service, viewer
from webapp.errors import Conflict, Forbidden, Invalid, NotFound
from webapp.kit.translation import gettext, ngettext

blueprint = integrations.blueprint
_TEXTS = ("auth", "server", "test", "name")
MOST_TESTS = 100
EMPTY: Mapping[str, str] = {}
_FIELDS = ("slug", "url", "document", "only", *_TEXTS)
_LONGEST_NAME = 300


@blueprint.get("/imports/new")
def new_import() -> AnyResponse:
    """Ask for the document, and what the app is called in addresses."""
    return _ask({})


@blueprint.get("/servers/new")
def new_server() -> AnyResponse:
    """Ask for the address of an MCP server, and what the app is called in addresses."""
    return _ask_server({})


@blueprint.post("/imports/preview")
def preview_import() -> AnyResponse:
    """Show the result of an import, with the choices."""
    document = None
    try:
        document = _document()
        report = _imported_apps().bring(_slug(), document, _options("tags"), preview=True)
    except (Invalid, Conflict) as error:
        return _refused(error, document)
    return _show(report, _kept(document))


@blueprint.get("/imports/directory")
def preview_of_directory() -> AnyResponse:
    """Show the result of importing a document of the public directory, with the choices."""
    name, slug = (request.args.get(key, "").strip()[:_LONGEST_NAME] for key in ("name", "slug"))
    document = Document(directory=name or "-")
    try:
        report = _imported_apps().bring(slug or "-", document, {}, preview=True)
    except (Invalid, Conflict) as error:
        return _refused(error, document)
    return _show(report, _kept(document))


@blueprint.post("/imports")
def create_import() -> AnyResponse:
    """Import with the choices."""
    document = None
    try:
        document = _document()
        report = _imported_apps().bring(_slug(), document, _chosen(), preview=False)
    except (Invalid, Conflict) as error:
        return _refused(error, document)
    _drafts().drop(request.form.get("draft", ""))
    app_setup.changed()
    flash(_imported(report), "ok")
    return integrations.back("imports")


@blueprint.get("/imports/<slug>/removal")
def ask_import_removal(slug: str) -> str:
    """Ask before it is removed, and say what stops."""
    return render_template(
        "dashboard/build/question.html",
        crumb=gettext("Integrations"),
        heading=gettext("Remove {app}?").format(app=slug),
        text=gettext("Its actions are removed with it. It can be imported again."),
        stops=[gettext("Whoever runs its actions gets an error.")],
        button=gettext("Remove"),
        confirm_url=url_for("dashboard.build_integrations.delete_import", slug=slug),
        back_url=url_for("dashboard.build_integrations.page"),
    )


@blueprint.post("/imports/<slug>/removal")
def delete_import(slug: str) -> AnyResponse:
    """Remove it, unless accounts of it are connected."""
    try:
        _imported_apps().remove(slug)
    except Conflict as error:
        flash(error.message, "bad")
        return integrations.back("imports")
    app_setup.changed()
    flash(gettext("{app} is removed.").format(app=slug), "ok")
    return integrations.back("imports")


def _imported_apps() -> ImportedApps:
    return ImportedApps(viewer().client)


def _drafts() -> Drafts:
    return Drafts(dashboard().settings.data)


def _slug() -> str:
    return request.form.get("slug", "").strip() or "-"  # which the service refuses with what is right


def _document() -> Document:
    """The document that was uploaded now or before or is at the address, or the MCP server. Raises :class:`Invalid`."""
    if "mcp" in request.form:
        return Document(server=_server())
    if draft := request.form.get("draft"):
        document = _drafts().get(draft)
        if document is None:
            raise Invalid.of("document", gettext("The document is not kept any more. Choose it again."))
        return document
    if name := request.form.get("directory", "").strip()[:_LONGEST_NAME]:
        return Document(directory=name)
    sent = request.files.get("document")
    content = sent.stream.read() if sent else b""
    url = request.form.get("url", "").strip()
    if sent and content:
        return Document(content, (sent.filename or "")[-200:].replace("\n", " "))
    if not url:
        raise Invalid.of("document", gettext("Choose a file, or enter an address."))
    return Document(url=url)


def _server() -> Server:
    """The MCP server that was entered, to be asked with one of the viewer's own accounts. Raises :class:`Invalid`."""
    url, account_id = request.form["mcp"].strip(), request.form.get("account_id", "")
    if not url:
        raise Invalid.of("mcp", gettext("Enter the address of the server."))
    if account_id and not any(account.id == account_id for account in _own_accounts(_slug())):
        raise Invalid.of("account_id", gettext("Choose one of your own accounts."))
    here = viewer().client
    return Server(url, account_id, here.project_id, here.environment) if account_id else Server(url)


def _own_accounts(slug: str) -> Sequence[Account]:
    """The viewer's accounts of the app in this scene."""
    try:
        return read_accounts(service(), app=slug).accounts
    except (NotFound, Forbidden, Invalid):
        return ()


def _kept(document: Document) -> dict[str, str]:
    """The fields with which the next page finds the document again."""
    if document.server:
        own = {"mcp": document.server.url, "account_id": document.server.account_id}
        return {**own, "auth": request.form.get("auth", "").strip()}
    if document.url:
        return {"url": document.url}
    if document.directory:
        return {"directory": document.directory}
    return {"draft": request.form.get("draft") or _drafts().put(document)}


def _chosen() -> dict[str, Any]:
    """The choices for each operation. Raises :class:`Invalid`."""
    options = _options("only")
    if not options["only"] and "mcp" not in request.form:
        raise Invalid.of("only", gettext("Choose at least one operation."))
    return options


def _options(ticked: str) -> dict[str, Any]:
    """The choices; ``ticked`` is the name of the boxes of the operations."""
    texts = {name: request.form.get(name, "").strip() for name in _TEXTS}
    return {"only": request.form.getlist(ticked), **texts}


def _imported(report: ImportReport) -> str:
    count = len(report.added) + len(report.changed) + len(report.same)
    sentence = ngettext("{app} is imported with {count} action.", "{app} is imported with {count} actions.", count)
    return sentence.format(app=report.name, count=count)


def _refused(error: Invalid | Conflict, document: Document | None) -> AnyResponse:
    """The first form with its error and with all choices of the second; a file need not be sent again."""
    if "mcp" in request.form:
        errors = by_field(error, ("slug", "mcp", "url", "auth", "account_id"))
        return _ask_server({"slug": error.message} if isinstance(error, Conflict) else errors)
    errors = {"slug": error.message} if isinstance(error, Conflict) else by_field(error, _FIELDS)
    kept = _kept(document) if document and "document" not in errors else {}
    kept.pop("url", None)  # the form asks for it
    return _ask(errors, kept, (document.name or document.directory) if document else "")


def _ask(errors: Mapping[str, str], kept: Mapping[str, str] = EMPTY, file: str = "") -> AnyResponse:
    """The first form. ``kept`` finds the document again, which ``file`` names; without it, the form asks for one."""
    entered = request.values if errors else request.args
    messages = [errors[name] for name in ("only", "name", "") if name in errors]
    context = {"entered": entered, "errors": errors, "messages": messages, "kept": kept, "file": file}
    return make_response(render_template("dashboard/build/integrations/import.html", **context), 422 if errors else 200)


def _ask_server(errors: Mapping[str, str]) -> AnyResponse:
    """The first form for an MCP server."""
    entered = request.values
    ways = [
        ("", gettext("As the server says")),
        ("bearer", gettext("A token that people enter")),
        ("header:X-API-Key", gettext("A key that people enter, in the header X-API-Key")),
        ("oauth", gettext("An OAuth client that you made there")),
        ("none", gettext("Not at all")),
    ]
    accounts = [(each.id, each.title) for each in _own_accounts(entered.get("slug", "")) if entered.get("slug")]
    with_account = [*accounts, ("", gettext("No account"))] if accounts else []
    context = {"entered": entered, "errors": errors, "ways": ways, "accounts": with_account}
    return make_response(render_template("dashboard/build/integrations/server.html", **context), 422 if errors else 200)


def _show(report: ImportReport, document: Mapping[str, str]) -> AnyResponse:
    tags = request.form.getlist("tags")
    if report.excess:
        context = {"report": report, "document": document, "tags": tags, "asked": "asked" in request.form}
        template = "dashboard/build/integrations/choose_tags.html"
        return make_response(render_template(template, **context), 422 if context["asked"] else 200)
    groups: dict[str, list[ImportOperation]] = {}
    for operation in report.operations:
        tag = next((tag for tag in operation.tags if not tags or tag in tags), None)
        if tag is not None:
            groups.setdefault(tag, []).append(operation)
    by_hand = [("bearer", gettext("A token")), ("basic", gettext("User name and password"))]
    context = {
        "ways": [*_pairs(report.auth, report.auth_choices), *(way for way in by_hand if way[0] != report.auth)],
        "tests": _pairs(report.test, report.test_choices[:MOST_TESTS]),
        "servers": _pairs("", report.server_choices),
        "server": request.form.get("server", ""),
    }
    page = "dashboard/build/integrations/preview.html"
    return make_response(render_template(page, report=report, document=document, tags=tags, groups=groups, **context))


def _pairs(chosen: str, choices: Sequence[str]) -> list[tuple[str, str]]:
    """The options of a list, with those that are chosen."""
    return [(choice, choice) for choice in dict.fromkeys([*choices, *([chosen] if chosen else [])])]
