"""Which pages may frame the Connect Link, and which its messages go to: those of the token's origins; other pages get a
constant page.

The browser says that a frame requests the page (``Sec-Fetch-Dest``) and, unless its page withholds it, from which
origin (``Referer``). Neither is proof: they can only reduce what is shown, and ``frame-ancestors`` protects the pages.
"""

from collections.abc import Mapping, Sequence

from flask import g, request

from webapp.kit.origins import exact_origin, origin_of
from webapp.service.domain.access import refused_origins
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.base.service import Service
from webapp.service.link.endings import ORIGIN_NOT_ALLOWED, Ended

_NO_FRAME = ("", "document", "empty")
_FOR_ISOLATED = {  # a page that isolates itself frames nothing without these
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


def admit(service: Service, token: ConnectToken) -> None:
    """Raise :class:`Ended` in a frame of a page that ``token`` does not allow, and forget the visit."""
    if not in_frame():
        return
    origin = embedder()
    if token.allows(origin) if origin is not None else token.allowed_origins:  # else frame-ancestors decides
        return
    g.pop("visit", None)
    if origin is not None:
        refused_origins.note(service, token.scene, origin)
    raise Ended(ORIGIN_NOT_ALLOWED)


def headers() -> tuple[Sequence[str] | None, Mapping[str, str]]:
    """What a response says about its frames: the origins that may frame it, None for any, and further headers.

    Any page may frame the page for strangers, which has nothing to protect.
    """
    if g.get("for_strangers"):
        return None, _FOR_ISOLATED
    current = g.get("visit")
    origins = current.token.allowed_origins if current and (current.framed or current.of_portal) else ()
    if not origins:
        return (), {"X-Frame-Options": "DENY"}
    return origins, _FOR_ISOLATED


def message_origins() -> list[str]:
    """The origins that the page posts its messages to: the token's, where a page of the product waits for the visit.

    The page for strangers only says why it is one, to the page around it, if the browser names that.
    """
    current = g.get("visit")
    if current and current.embedded:
        return [*current.token.allowed_origins]
    origin = embedder() if g.get("for_strangers") else None
    return [origin] if origin else []


def is_framed(token: ConnectToken, connect_link: str) -> bool:
    """Whether a link is opened in a frame: by the browser's header, else by the link's own parameter."""
    destination = request.headers.get("Sec-Fetch-Dest")
    if destination:
        return destination != "document"
    return bool(token.allowed_origins) and connect_link.lower() not in ("true", "1")


def in_frame() -> bool:
    """Whether the browser says that a frame requests the page."""
    return request.headers.get("Sec-Fetch-Dest", "") not in _NO_FRAME


def embedder() -> str | None:
    """The origin of the page that frames this one, or None if the browser does not say."""
    return exact_origin(origin_of(request.headers.get("Referer", "")))
