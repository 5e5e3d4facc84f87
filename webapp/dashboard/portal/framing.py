"""Who may frame the pages of portals: the origins that the session's Connect token allows."""

from flask import g

from webapp.dashboard.portal.sessions import PortalSession


def frame_ancestors() -> tuple[str, ...] | None:
    """The origins that may frame the page: those of the session's token; None for any, as the page that says that there
    is no session says nothing of anybody."""
    known: PortalSession | None = g.get("portal")
    return None if known is None else known.facts.allowed_origins
