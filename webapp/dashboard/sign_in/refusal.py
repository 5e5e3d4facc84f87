"""The page that lets nobody in: a link that works no more, or a sign-in elsewhere that came to nothing."""

from flask import Response, make_response, render_template, url_for

from webapp.kit.translation import gettext


def refused(heading: str, message: str, *, way_on: str = "", code: int = 403) -> Response:
    """``heading`` and why, with a button to the sign-in page that says ``way_on``."""
    page = render_template(
        "layouts/error.html",
        code=code,
        heading=heading,
        message=message,
        action={"label": way_on or gettext("Sign in instead"), "url": url_for("dashboard.session.page")},
    )
    return make_response(page, code)
