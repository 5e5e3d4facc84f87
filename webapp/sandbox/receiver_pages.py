"""The receiver's endpoint ``/receiver/<any path>``, and the page that shows its requests, verdicts and settings."""

import time

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.sandbox.receiver import ANSWERS, EVERYWHERE, KEPT, key_bytes
from webapp.sandbox.state import current

_BODIES = {204: "", 302: "", 410: "gone\n", 429: "too many\n", 500: "error\n"}  # by status; of any other, ok
MAX_PATH = 500

inbox = Blueprint("inbox", __name__)
blueprint = Blueprint("receiver", __name__)


@inbox.route("/receiver/<path:path>", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
def receive(path: str) -> ResponseReturnValue:
    """Record a request and answer as chosen for its path.

    Any method is accepted, so that a redirect that was followed wrongly is recorded, too.
    """
    receiver = current().receiver
    target = request.full_path if request.query_string else request.path
    receiver.record(path, request.method, target, request.headers.items(), request.get_data())
    answer = receiver.answer(path)
    if answer == "slow":
        time.sleep(current().receiver_seconds)
    status = 200 if answer == "slow" else int(answer)
    headers = {302: {"Location": url_for("inbox.receive", path="redirect-target")}, 429: {"Retry-After": "20"}}
    return _BODIES.get(status, "ok\n"), status, headers.get(status, {})


@blueprint.get("/receiver")
def show() -> ResponseReturnValue:
    """The last requests, newest first."""
    return _page()


@blueprint.post("/settings/receiver/answer")
def choose_answer() -> ResponseReturnValue:
    """Set the answer of a path; an empty path sets the default."""
    path, answer = _path(), request.form.get("answer", "")
    if answer not in ANSWERS and not (path and answer == ""):
        return _page("Pick one of the answers."), 422
    current().receiver.choose(path, answer or None)
    return redirect(url_for("receiver.show"), 303)


@blueprint.post("/settings/receiver/key")
def set_key() -> ResponseReturnValue:
    """Set the signing key of a path; an empty key deletes it."""
    path, key = _path(), request.form.get("key", "").strip()
    try:
        if key:
            key_bytes(key)
    except ValueError as error:
        return _page(str(error)), 422
    if not path:
        return _page("Say for which path the key is."), 422
    current().receiver.set_key(path, key or None)
    return redirect(url_for("receiver.show"), 303)


@blueprint.post("/settings/receiver/clear")
def clear() -> ResponseReturnValue:
    """Delete all requests."""
    current().receiver.clear()
    return redirect(url_for("receiver.show"), 303)


def _page(problem: str | None = None) -> str:
    receiver, chosen = current().receiver, current().receiver.answers()
    requests = receiver.requests()
    paths = list(dict.fromkeys([received.path for received in requests] + receiver.paths()))
    keys = {path: receiver.key(path) for path in paths}
    return render_template(
        "sandbox/receiver.html",
        requests=requests,
        verdicts={received.id: received.verdicts(keys[received.path]) for received in requests},
        paths=paths,
        keyed={path for path in paths if keys[path]},
        chosen=chosen,
        everywhere=chosen.get(EVERYWHERE, "200"),
        answers=ANSWERS,
        kept=KEPT,
        problem=problem,
    )


def _path() -> str:
    return request.form.get("path", "").strip().strip("/").removeprefix("receiver/")[:MAX_PATH]
