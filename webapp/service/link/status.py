"""What the waiting page asks: has the sign-in in the other window come to an end?

It asks the server and never the window, which may lie about being closed. 204 means "not yet" and changes nothing on
the page; the outcome comes as a fragment, which has no trigger and so ends the asking.
"""

from flask import Blueprint, Response, request

from webapp.service.domain.accounts import attempts
from webapp.service.domain.base.failures import AttemptUnknown
from webapp.service.domain.base.service import Service
from webapp.service.link import answers, outcomes, visit


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the route of this module to ``blueprint``."""

    @blueprint.post("/_static/connect/status")
    def status() -> Response:
        current = visit.of_form(service, request, late=True)
        secret = request.form.get("attempt", "")
        attempt = attempts.find(service, secret)
        if attempt is None and current.session:  # a page that was reloaded while it waited
            attempt = attempts.latest(service, current.session.id)
        if attempt is None or attempt.token_hash != current.token.hash:
            raise AttemptUnknown
        if attempt.status in ("open", "started", "exchanging") and answers.is_fragment():
            return Response(status=204)
        return outcomes.show(service, attempt, secret=secret)
