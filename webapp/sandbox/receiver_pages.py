"""The page that shows what the receiver got, with the verdict on both signatures, and its settings."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webapp.sandbox.receiver import ANSWERS, EVERYWHERE, KEPT
from webapp.sandbox.signatures import key_bytes
from webapp.sandbox.state import current

MAX_PATH = 500
blueprint = Blueprint("receiver", __name__)


@blueprint.get("/receiver")
def show() -> ResponseReturnValue:
    """The last requests, newest first."""
    return _page()


@blueprint.post("/settings/receiver/answer")
def choose_answer() -> ResponseReturnValue:
    """Set what a path answers from now on; an empty path means every other one."""
    path, answer = _path(), request.form.get("answer", "")
    if answer not in ANSWERS and not (path and answer == ""):
        return _page("Pick one of the answers."), 422
    current().receiver.choose(path, answer or None)
    return redirect(url_for("receiver.show"), 303)


@blueprint.post("/settings/receiver/key")
def set_key() -> ResponseReturnValue:
    """Keep a signing key for a path; an empty one forgets it."""
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
    """Forget every request."""
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
