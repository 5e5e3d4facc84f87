"""The person's answers to what a connection has to ask: in the sign-in's own window, and on the page of a form.

The first is proved by the cookie that binds the sign-in to its browser, which no other site's form sends along; the
second like any form of the link.
"""

from flask import Blueprint, Response, request

from webapp.service.domain.accounts import attempts
from webapp.service.domain.accounts.attempts import Attempt, Question
from webapp.service.domain.base.failures import AttemptUnknown
from webapp.service.domain.base.service import Service
from webapp.service.link import keys, oauth_flow, outcomes, visit
from webapp.service.link.answers import see_other


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the routes of this module to ``blueprint``."""

    @blueprint.post("/connect/oauth/answer/<attempt_id>")
    def in_the_window(attempt_id: str) -> Response:
        attempt = attempts.by_id(service, attempt_id)
        if attempt is None or not oauth_flow.is_own(service, attempt):
            raise AttemptUnknown
        if attempt.status == "asking":
            answer = _answer(service, attempt)
            oauth_flow.finish(service, attempts.claim_answer(service, attempt), answer)
        return see_other(f"{oauth_flow.COOKIE_PATH}/ended/{attempt.id}")

    @blueprint.post("/_static/connect/answer")
    def on_the_page() -> Response:
        current = visit.of_form(service, request)
        secret = request.form.get("attempt", "")
        attempt = attempts.find(service, secret)
        if attempt is None or attempt.token_hash != current.token.token_hash or attempt.binding_hash is not None:
            raise AttemptUnknown
        if attempt.status != "asking":
            return outcomes.show(service, attempt, secret=secret)
        answer = _answer(service, attempt)
        return keys.go_on(service, current, attempts.claim_answer(service, attempt), secret, answer)


def _answer(service: Service, attempt: Attempt) -> dict[str, str]:
    """The answer by the kind of the question. Raises :class:`AttemptUnknown` for one that was not offered."""
    question = Question.of(attempts.unsealed(service, attempt)["question"])
    answer = request.form.get("answer", "")
    if not question.admits(answer):
        raise AttemptUnknown
    return {question.kind: answer}
