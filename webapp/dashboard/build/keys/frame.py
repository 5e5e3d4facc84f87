"""What the parts of "API & keys" share: the blueprint, a secret that is shown once, and pages that ask for
confirmation.
"""

from typing import Any, NamedTuple

from flask import render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import frame as build
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.pages import go
from webapp.kit.translation import lazy as _

blueprint = build.blueprint("keys", build.BuildPage(_("API & keys"), "key", 2))


class Secret(NamedTuple):
    """A new secret, which is shown once, with a sentence about it."""

    sentence: str
    text: str


def show_once(sentence: str, text: str) -> None:
    """Show ``text`` to this viewer until they confirm that they kept it, for five minutes at most."""
    dashboard().one_time_secrets.put(_name(), sentence, text)


def shown_now() -> Secret | None:
    """The secret to show now; a reload of the page shows it again."""
    kept = dashboard().one_time_secrets.get(_name())
    return Secret(*kept) if kept else None


@blueprint.post("/secret/kept")
def keep_secret() -> AnyResponse:
    """The person copied it: show it no more."""
    dashboard().one_time_secrets.drop(_name())
    return back()


def question(template: str = "dashboard/build/keys/question.html", **context: Any) -> str:
    """A question before a step, as a page; a script shows it in a dialog."""
    return render_template(template, back_url=url_for("dashboard.build_keys.page"), **context)


def back(anchor: str = "") -> AnyResponse:
    """To the page, at one of its parts."""
    return go(url_for("dashboard.build_keys.page", _anchor=anchor or None))


def _name() -> str:
    return f"{viewer().key} build_keys"
