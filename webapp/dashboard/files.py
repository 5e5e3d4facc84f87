"""Downloads of files from the file stash, by their id: a redirect to a new link, which works for half an hour.

Pages name a file by this address, because a link that a page contained would soon be too old.
"""

from flask import Blueprint, redirect
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import components

blueprint = Blueprint("files", __name__, url_prefix="/files")


@blueprint.get("/<file_id>")
def download(file_id: str) -> AnyResponse:
    """Redirect to the file, which the browser saves. 404 for another user's file, or one that is too old."""
    return redirect(components().file(file_id).url, 302)
