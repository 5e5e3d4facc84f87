"""Reading a request to a trigger's own URL off the wire, as the domain takes it."""

from flask import Request as FlaskRequest
from werkzeug.urls import iri_to_uri

from webapp.service.domain.triggers.requests import InboundRequest


def read(request: FlaskRequest, base: str, rest: str, at: int) -> InboundRequest:
    """``request`` to ``base`` (the trigger's URL), with the path ``rest`` behind it, which came at ``at`` (epoch ms).

    Headers come as latin-1 from the server and are mostly UTF-8. Raises
    :class:`werkzeug.exceptions.RequestEntityTooLarge`.
    """
    query = request.query_string.decode("latin-1")
    path = f"/{rest}"
    return InboundRequest(
        method=request.method,
        path=path,
        url=f"{base}{iri_to_uri(path) if rest else ''}{f'?{query}' if query else ''}",
        query=tuple(request.args.items(multi=True)),
        headers=tuple((name, _text(value)) for name, value in request.headers.items()),
        body=request.get_data(cache=False, parse_form_data=False),
        client_ip=request.remote_addr or "",
        at=at,
    )


def _text(value: str) -> str:
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
