"""The headers of every answer of the Connect Link: never stored, no referrer, framed by the token's origins alone."""

from flask import Response, g

from webapp.service.domain.base.service import Service
from webapp.service.link.visit import Visit


def add(response: Response, service: Service) -> Response:
    """``response`` with its headers. The page for strangers holds nothing to protect, so anybody may frame it."""
    nonce = g.get("csp_nonce")
    style = f"'self' 'nonce-{nonce}'" if nonce else "'self'"
    policy = [
        "default-src 'none'",
        "script-src 'self'",
        f"style-src {style}",
        f"img-src 'self' data: {service.settings.public_url}",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
    ]
    if not g.get("for_strangers"):
        current: Visit | None = g.get("visit")
        origins = current.token.allowed_origins if current and (current.framed or current.of_portal) else ()
        policy.append("frame-ancestors " + (" ".join(origins) or "'none'"))
        if not origins:
            response.headers["X-Frame-Options"] = "DENY"
    if "X-Frame-Options" not in response.headers:  # a page that isolates itself frames nothing without these
        response.headers["Cross-Origin-Embedder-Policy"] = "require-corp"
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["Content-Security-Policy"] = "; ".join(policy)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.vary.update(("HX-Request", "Sec-Fetch-Dest", "Referer"))
    return response
