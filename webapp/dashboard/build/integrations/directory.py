"""The public directory on the page Integrations: brought by the worker, while the page shows how far it is; removed."""

from flask import flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.integrations import integrations
from webapp.dashboard.client.build.directory import Directory, DirectoryClient
from webapp.dashboard.dashboard import viewer
from webapp.dashboard.pages import fragment, wants_fragment
from webapp.errors import Conflict, NotFound, Unavailable
from webapp.kit.translation import gettext

blueprint = integrations.blueprint
PART = "dashboard/build/integrations/_directory.html"
ANCHOR = "directory"


@blueprint.post("/directory")
def bring_directory() -> AnyResponse:
    """Have it brought, or a newer one."""
    try:
        _client().bring()
    except Unavailable as error:
        flash(error.message, "bad")
    return integrations.back(ANCHOR)


@blueprint.post("/directory/stop")
def stop_directory() -> AnyResponse:
    """End what is being brought, or dismiss what failed."""
    _client().stop()
    return integrations.back(ANCHOR)


@blueprint.get("/directory/progress")
def directory_progress() -> AnyResponse:
    """Its part of the page, for a page that polls; at the end with a message."""
    if not wants_fragment():
        return integrations.back(ANCHOR)
    directory = _client().search("", limit=1)
    download = directory.download if directory else None
    if download and download.is_active and request.args.get("known") == integrations.download_mark(download):
        return make_response("", 204)
    return make_response(fragment(PART, directory=directory, sentence=_ended(directory), **integrations.WORDS))


@blueprint.get("/directory/removal")
def ask_directory_removal() -> str:
    """Ask before it is removed."""
    return render_template(
        "dashboard/build/question.html",
        crumb=gettext("Integrations"),
        heading=gettext("Remove the public directory?"),
        text=gettext("Its documents are not found any more. Imported apps stay, and it can be brought again."),
        stops=[],
        button=gettext("Remove"),
        confirm_url=url_for("dashboard.build_integrations.remove_directory"),
        back_url=url_for("dashboard.build_integrations.page"),
    )


@blueprint.post("/directory/removal")
def remove_directory() -> AnyResponse:
    """Remove it."""
    try:
        _client().remove()
    except Conflict as error:
        flash(error.message, "bad")
    except NotFound:
        pass  # somebody else has removed it
    else:
        flash(gettext("The public directory is removed."), "ok")
    return integrations.back(ANCHOR)


def _ended(directory: Directory | None) -> str:
    """What is announced once nothing is being brought."""
    download = directory.download if directory else None
    if directory is None or (download and download.is_active):
        return ""
    if download is None:
        return gettext("It was stopped.")
    if download.state == "failed":
        return gettext("The public directory could not be brought.")
    if not download.version:
        return gettext("There is no newer version.")
    return gettext("The public directory is here.")


def _client() -> DirectoryClient:
    return DirectoryClient(viewer().client)
