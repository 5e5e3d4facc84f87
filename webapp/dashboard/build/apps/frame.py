"""What the parts of "App setup" share: the blueprint, and questions before a step."""

from typing import Any

from flask import render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.frame import blueprint as build_blueprint
from webapp.dashboard.pages import go

blueprint = build_blueprint("apps")


def question(**context: Any) -> str:
    """A question before a step, as a page; a script shows it in a dialog."""
    return render_template(
        "dashboard/build/apps/question.html", back_url=url_for("dashboard.build_apps.page"), **context
    )


def back(anchor: str = "") -> AnyResponse:
    """To the page, at one of its parts."""
    return go(url_for("dashboard.build_apps.page", _anchor=anchor or None))
