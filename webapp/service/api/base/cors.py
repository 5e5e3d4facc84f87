"""Cross-origin requests (contract "CORS"): pages of the origins that a Connect token allows may call, and our own.

No answer allows ``*`` or credentials: the token in the Authorization header is enough.
"""

from flask import Request, Response

from webapp.errors import Forbidden
from webapp.kit.origins import exact_origin
from webapp.service.domain.access import allowed_origins, connect_tokens, refused_origins
from webapp.service.domain.base.service import Service

METHODS = "GET, POST, PUT, PATCH, DELETE"
HEADERS = (
    "authorization",
    "content-type",
    "user-agent",
    "x-pd-environment",
    "x-pd-rate-limit",
    "x-pd-sdk-version",
    "x-fern-language",
    "x-fern-runtime",
    "x-fern-runtime-version",
    "x-fern-sdk-name",
    "x-fern-sdk-version",
)
PREFIXES = ("x-fern-", "x-pd-proxy-")
EXPOSED = "Retry-After, X-Ignored-Parameters, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"
PREFLIGHT_LIFETIME_S = 600


def admits(service: Service, origin: str, token: str) -> bool:
    """Whether a page of ``origin`` may call with ``token``, live or expired, and read the answer."""
    if origin == service.settings.public_url:
        return True
    connect_token = connect_tokens.recall(service.store, token)
    return connect_token is not None and connect_token.allows(origin)


def knows(service: Service, origin: str) -> bool:
    """Whether pages of ``origin`` are told what is wrong with a call: ours, and those that some token allows.

    A page that sends no token, an unknown one or that of another page has no other way to learn why its call fails, and
    an error tells it nothing else.
    """
    return origin == service.settings.public_url or allowed_origins.is_allowed(service, origin)


def refuse(service: Service, origin: str, token: str) -> Forbidden:
    """Record the refused origin for the developer, and return the error."""
    connect_token = connect_tokens.recall(service.store, token)
    if connect_token is not None and (exact := exact_origin(origin)):
        refused_origins.note(service, connect_token.scene, exact)
    return Forbidden(
        f"This token does not serve pages of {origin}; create it with that origin in allowed_origins, "
        "or call from your server."
    )


def open_to(answer: Response, origin: str) -> None:
    """Let a page of ``origin`` read ``answer``."""
    answer.headers["Access-Control-Allow-Origin"] = origin
    answer.headers["Access-Control-Expose-Headers"] = EXPOSED


def open_to_all(answer: Response, request: Request) -> None:
    """Let any calling page read ``answer``, which is public or requires a secret."""
    origin = request.headers.get("Origin", "")
    if exact_origin(origin) == origin:
        answer.headers["Access-Control-Allow-Origin"] = origin
    answer.headers.add("Vary", "Origin")


def preflight_of_all(request: Request, *names: str) -> Response:
    """The answer to a preflight if the request itself is checked later; the request may have the headers ``names``,
    too.

    Raises :class:`Forbidden` for an origin that is no web page's.
    """
    if exact_origin(request.headers["Origin"]) != request.headers["Origin"]:
        raise Forbidden("Only pages of http and https may call.")
    answer = _allowing(request)
    answer.headers["Access-Control-Allow-Headers"] += "".join(f", {name}" for name in names)
    return answer


def preflight(service: Service, request: Request) -> Response:
    """The answer to a preflight, which has no token: any origin that some token allows is served."""
    origin = request.headers["Origin"]
    if not knows(service, origin):
        raise Forbidden(f"No Connect token allows pages of {origin}.")
    return _allowing(request)


def is_preflight(request: Request) -> bool:
    """Whether ``request`` is a CORS preflight (Fetch standard, "CORS-preflight request")."""
    headers = request.headers
    return request.method == "OPTIONS" and "Origin" in headers and "Access-Control-Request-Method" in headers


def _allowing(request: Request) -> Response:
    answer = Response(status=204)
    answer.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
    answer.headers["Access-Control-Allow-Methods"] = METHODS
    answer.headers["Access-Control-Allow-Headers"] = ", ".join(_allowed_headers(request))
    answer.headers["Access-Control-Max-Age"] = str(PREFLIGHT_LIFETIME_S)
    answer.headers["Vary"] = "Access-Control-Request-Headers"
    return answer


def _allowed_headers(request: Request) -> list[str]:
    """The fixed names, and the requested ones with an allowed prefix, since the header itself has no prefixes."""
    requested = request.headers.get("Access-Control-Request-Headers", "").lower().split(",")
    names = (name.strip() for name in requested)
    return list(dict.fromkeys((*HEADERS, *(name for name in names if _is_prefixed(name)))))


def _is_prefixed(name: str) -> bool:
    return name.startswith(PREFIXES) and len(name) <= 100 and name.replace("-", "").replace("_", "").isalnum()
