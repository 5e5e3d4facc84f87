"""News of a trigger's page since it was rendered: the parts around its lists that have changed.

What says the same stays as it is, under somebody's pointer and with the focus in it. New entries of a list are news of
the logs (:mod:`webapp.dashboard.logs`).
"""

from urllib.parse import urlencode

from flask import Response, make_response, request

from webapp.dashboard.pages import fragment
from webapp.dashboard.trigger.frame import Frame, context_of, news_url


def answer(frame: Frame) -> Response:
    """204 while nothing has changed; else the current parts of the page, and where it asks from then on."""
    url, seen = news_url(frame), {name: request.args.get(name, "") for name in ("around", "next")}
    if url.endswith(urlencode(seen)):
        return Response(status=204)
    around = f"around={seen['around']}&" not in url
    context = context_of(frame, "") | {"poll_url": url, "around": around}
    return make_response(fragment("dashboard/trigger/_changed.html", **context))
