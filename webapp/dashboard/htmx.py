"""One route, two answers: a fragment for htmx, else the page that includes it (EXPERIENCE "HTMX 4")."""

from typing import Any, cast

from flask import Response, g, get_flashed_messages, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

VARY = "HX-Request, HX-Request-Type, HX-History-Restore-Request, Cookie, Accept-Encoding, Sec-Fetch-Site"


def wants_fragment() -> bool:
    """Whether htmx asks for a part of a page; a boosted link and a history restore want the whole."""
    headers = request.headers
    return (
        headers.get("HX-Request") == "true"
        and headers.get("HX-Request-Type") != "full"
        and headers.get("HX-History-Restore-Request") != "true"
    )


def fragment(template: str, **context: Any) -> str:
    """A part of a page, which needs no navigation."""
    g.fragment = True
    return render_template(template, **context)


def page(template: str, part: str, *, url: str | None = None, **context: Any) -> Response:
    """``part`` for htmx (``url`` goes into the address bar), else the ``template`` around it."""
    if not wants_fragment():
        return make_response(render_template(template, **context))
    response = make_response(fragment(part, **context))
    if url:
        response.headers["HX-Push-Url"] = url
    return response


def go(url: str) -> AnyResponse:
    """Lead to another page: 303, or for htmx a header, because ``fetch`` would swallow a redirect."""
    if request.headers.get("HX-Request") != "true":
        return redirect(url, 303)
    response = Response(status=204)
    response.headers["HX-Redirect"] = url
    return response


def status(sentence: str, code: int) -> Response:
    """An answer for htmx that goes to the status region whatever its target was."""
    response = make_response(fragment("dashboard/_status.html", sentence=sentence), code)
    for name, value in (("HX-Retarget", "#status"), ("HX-Reswap", "innerHTML"), ("HX-Push-Url", "false")):
        response.headers[name] = value
    return response


def flashed() -> list[tuple[str, str]]:
    """What the page before wanted said: tone and sentence."""
    found = cast(list[tuple[str, str]], get_flashed_messages(with_categories=True))
    # Once each: two requests on their way at the same time may both have said it.
    return list(dict.fromkeys((str(tone), str(sentence)) for tone, sentence in found))
