"""The Content-Security-Policies (level 3) of what we answer: what a page may load and run, where its forms lead, and
who may frame it.

Each begins with nothing and allows no inline script and no eval. Pages of the dashboard, of portals and of the Connect
Link have one policy, and say in its blanks what their responses need.
"""

from collections.abc import Sequence

_NOBODY = ("'none'",)
NO_PAGE = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
"""An answer that is no page, such as JSON or a redirect."""
OF_OTHERS = f"{NO_PAGE}; sandbox"
"""What a component or a provider answered, at an address of ours: whatever it is, it runs nothing here."""
FILE = "default-src 'none'; sandbox"
"""A file or an image, which pages of other origins may show."""
_TEXT = f"{NO_PAGE}; style-src 'self'; img-src 'self' data:; font-src 'self'"
MANUAL = f"{_TEXT}; form-action 'self'"
"""A page of the manual, which has a search and no scripts."""
API_REFERENCE = f"{_TEXT}; form-action 'none'"
"""The page of the API's operations, which has neither."""


def of_page(
    *,
    nonce: str | None,
    images: str,
    frame_ancestors: Sequence[str] | None,
    form_action: str | None = "'self'",
    frame_src: str = "",
) -> str:
    """The policy of a page with our scripts.

    One style element may have the ``nonce``. ``images`` are origins of images beside our own. Pages of
    ``frame_ancestors`` may frame it, those of any origin for None. Its forms lead to ``form_action``, or anywhere for
    None: Chromium holds that against the redirects that follow a form, too. It frames pages of ``frame_src``.
    """
    directives = (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' 'nonce-{nonce}'" if nonce else "style-src 'self'",
        f"img-src 'self' data: {images}",
        "font-src 'self'",
        "connect-src 'self'",
        f"form-action {form_action}" if form_action else "",
        "base-uri 'none'",
        "" if frame_ancestors is None else f"frame-ancestors {' '.join(frame_ancestors or _NOBODY)}",
        f"frame-src {frame_src}" if frame_src else "",
    )
    return "; ".join(filter(None, directives))
