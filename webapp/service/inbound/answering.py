"""Answers to requests at triggers' own URLs. They stand on our origin, so what a trigger says must do nothing there.

No script of it runs, nothing is framed, stored or kept as a cookie, no other origin reads it, and of its headers only
harmless ones pass.
"""

import json
import re

from flask import Response

from webapp.service.components.calls import HttpAnswer

_PASSED = frozenset(
    {"content-type", "content-language", "retry-after", "webhook-allowed-origin", "webhook-allowed-rate"}
)
_OURS = (  # headers that browsers or reverse proxies obey
    "x-accel-", "x-content-type-options", "x-dns-prefetch-control", "x-forwarded-", "x-frame-options", "x-lighttpd-",
    "x-litespeed-", "x-patchbay-", "x-permitted-", "x-reproxy-", "x-robots-tag", "x-sendfile", "x-ua-compatible",
    "x-xss-protection",
)  # fmt: skip
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}(?:\s*;[\x20-\x7e]{0,200})?")
_WITHOUT_BODY = (204, 205, 304)
_PROTECTION = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def answer(reply: HttpAnswer) -> Response:
    """The ``reply`` of a trigger or of its person, on the wire."""
    headers = {name.lower(): value for name, value in reply.headers.items()}
    content_type = headers.pop("content-type", "").strip()
    if not _MEDIA_TYPE.fullmatch(content_type):
        content_type = "text/plain; charset=utf-8"
    body = b"" if reply.status in _WITHOUT_BODY else reply.body.encode("utf-8", "replace")
    response = Response(body, reply.status, content_type=content_type)
    for name, value in headers.items():
        if passes(name) and value.isascii() and value.isprintable():
            response.headers[name] = value
    response.headers.update(_PROTECTION)
    return response


def passes(name: str) -> bool:
    """Whether the header ``name`` (in lower case) may come from a trigger: such as ``x-hook-secret``."""
    return name in _PASSED or (name.startswith("x-") and not name.startswith(_OURS))


def refusal(status: int, sentence: str, retry_after_s: int | None = None) -> Response:
    """An error of ours."""
    headers = {"content-type": "application/json"}
    if retry_after_s is not None:
        headers["retry-after"] = str(retry_after_s)
    return answer(HttpAnswer(status, json.dumps({"error": sentence}), headers))
