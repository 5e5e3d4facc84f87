"""What the sections of "API & keys" share: the blueprint, a secret that is shown once, and pages that ask for
confirmation.
"""

from typing import Any, NamedTuple
from urllib.parse import quote

from flask import render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.pages import go

blueprint = menu.blueprint("keys")


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
    """The person copied it: show it no more, and return to the section that showed it."""
    dashboard().one_time_secrets.drop(_name())
    return back(request.form.get("section", ""))


def question(section: str, template: str = "dashboard/build/keys/question.html", **context: Any) -> str:
    """A question before a step, as a page that leads back to ``section``; a script shows it in a dialog."""
    return render_template(template, back_url=url_of(section), **context)


def back(section: str) -> AnyResponse:
    """Lead to a section; "" is the first."""
    return go(url_of(section))


def url_of(section: str) -> str:
    """The address of a section; "" is the first, to which the address of the whole page redirects."""
    page = url_for("dashboard.build_keys.page")
    return f"{page}/{quote(section, safe='')}" if section else page


def _name() -> str:
    return f"{viewer().key} build_keys"
