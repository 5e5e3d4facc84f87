"""Which pages may speak to ``/mcp``: those of agents that run in a browser (contract "Agents").

A page holds the token that it shows: no cookie and no password of the browser counts here. So the token says from where
it may be shown, and who shows none may read how to sign in, wherever they are. A page of another origin that gets hold
of a token, or leads its own name to this machine (DNS rebinding), is refused.
"""

from flask import Response

from webapp.kit.origins import exact_origin, origin_of
from webapp.people.agents import tokens
from webapp.service.api.base import cors
from webapp.service.domain.agents import signed_in
from webapp.service.domain.base.service import Service
from webapp.service.mcp import conversations


def admits(service: Service, origin: str, bearer: str) -> bool:
    """Whether a page of ``origin`` that shows ``bearer`` may read the answer.

    What a person signed in for may be shown where that sign-in led back to; once it is over, the 401 is for all.
    """
    if cors.admits(service, origin, bearer):
        return True
    if exact_origin(origin) != origin:
        return False
    if bearer.startswith(signed_in.PREFIX):
        grant = tokens.grant_of(service.store, bearer, service.clock())
        return grant is None or origin_of(grant.redirect_uri) == origin
    return not bearer


def open_to(service: Service, answer: Response, origin: str, bearer: str) -> None:
    """Let a page of ``origin`` read ``answer``, and what it needs of its headers, where it may."""
    if admits(service, origin, bearer):
        cors.open_to(answer, origin)
        answer.headers["Access-Control-Expose-Headers"] += f", {conversations.SESSION_HEADER}, WWW-Authenticate"
