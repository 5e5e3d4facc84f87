"""The receiver's address: ``/receiver/<any path>`` records a request and answers as was chosen for that path."""

import time

from flask import Blueprint, request, url_for
from flask.typing import ResponseReturnValue

from webapp.sandbox.state import current

RETRY_AFTER_SECONDS = "20"

blueprint = Blueprint("inbox", __name__)


@blueprint.route("/receiver/<path:path>", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
def receive(path: str) -> ResponseReturnValue:
    """Record any method, so that a redirect which was wrongly followed shows up too."""
    receiver = current().receiver
    target = request.full_path if request.query_string else request.path
    receiver.record(path, request.method, target, request.headers.items(), request.get_data())
    match receiver.answer(path):
        case "slow":
            time.sleep(current().receiver_seconds)
            return "ok\n"
        case "204":
            return "", 204
        case "302":
            return "", 302, {"Location": url_for("inbox.receive", path="redirect-target")}
        case "429":
            return "too many\n", 429, {"Retry-After": RETRY_AFTER_SECONDS}
        case "410":
            return "gone\n", 410
        case "500":
            return "error\n", 500
        case _:
            return "ok\n"
