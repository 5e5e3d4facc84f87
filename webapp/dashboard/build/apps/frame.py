"""What the parts of "App setup" share: the blueprint, and pages that ask for confirmation."""

from typing import Any

from flask import render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import frame as build
from webapp.dashboard.pages import go
from webapp.kit.translation import lazy as _

blueprint = build.blueprint("apps", build.BuildPage(_("App setup"), "apps", 4, build.OWNERS))


def question(**context: Any) -> str:
    """A question before a step, as a page; a script shows it in a dialog."""
    return render_template(
        "dashboard/build/apps/question.html", back_url=url_for("dashboard.build_apps.page"), **context
    )


def back(anchor: str = "") -> AnyResponse:
    """To the page, at one of its parts."""
    return go(url_for("dashboard.build_apps.page", _anchor=anchor or None))
