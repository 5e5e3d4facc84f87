"""Pages travel compressed (RFC 9110 section 8.4.1.3), but never where that could give a form token away.

A page both echoes what was searched for and carries a form token; whoever can make a browser ask for it again and
again and sees the sizes could guess the token (the BREACH attack). Such requests come from another site, and
browsers say so in ``Sec-Fetch-Site``: those are answered uncompressed.
"""

import gzip

from flask import Response, request

_WORTH_IT = 1_024
_LEVEL = 5


def compress(response: Response) -> Response:
    """Gzip ``response`` when the browser takes it, it is worth it, and no other site asked for it."""
    if (
        response.direct_passthrough
        or response.mimetype != "text/html"
        or not request.accept_encodings.quality("gzip")
        or request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    ):
        return response
    body = response.get_data()
    if len(body) >= _WORTH_IT:
        response.set_data(gzip.compress(body, _LEVEL, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    return response
