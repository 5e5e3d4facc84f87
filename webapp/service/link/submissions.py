"""What a person submits: an app's keys, which are tested and connected at once, the fields that lead to the sign-in,
and the answer to a question that a connection asks.
"""

from collections.abc import Mapping

from flask import Blueprint, Response, request

from webapp.errors import Invalid, PatchbayError
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import attempts, connections, provider
from webapp.service.domain.accounts import fields as domain_fields
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import Attempt, Question, Undecided
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.failures import AttemptUnknown, ConnectFailed, NoClient
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import hosted_servers
from webapp.service.link import forms, oauth_callback, outcome_page, pages, visit
from webapp.service.link.oauth_start import COOKIE_PATH
from webapp.service.link.responses import see_other
from webapp.service.link.visit import Visit
from webapp.service.outbound.templates import TemplateError


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the routes of this module to ``blueprint``."""

    @blueprint.post("/_static/connect/keys")
    def keys() -> Response:
        current = visit.of_form(service, request)
        secret = request.form.get("attempt", "")
        attempt = attempts.find(service, secret)
        if attempt is None or attempt.token_hash != current.token.token_hash:
            raise AttemptUnknown
        account = visit.account_of(service, current.token, attempt.account_id) if attempt.account_id else None
        app = forms.chosen_way(service, current, service.app(attempt.app), account)
        if app.auth_type == "oauth":
            return _show_sign_in(service, current, app, account, secret)
        return _connect(service, current, app, account, attempt, secret)

    @blueprint.post("/connect/oauth/answer/<attempt_id>")
    def answer_in_window(attempt_id: str) -> Response:
        attempt = attempts.by_id(service, attempt_id)
        if attempt is None or not oauth_callback.is_own(service, attempt):
            raise AttemptUnknown
        if attempt.status == "asking":
            answer = _answer_question(service, attempt)
            oauth_callback.finish(service, attempts.claim_answer(service, attempt), answer)
        return see_other(f"{COOKIE_PATH}/ended/{attempt.id}")

    @blueprint.post("/_static/connect/answer")
    def answer_on_page() -> Response:
        current = visit.of_form(service, request)
        secret = request.form.get("attempt", "")
        attempt = attempts.find(service, secret)
        if attempt is None or attempt.token_hash != current.token.token_hash or attempt.binding_hash is not None:
            raise AttemptUnknown
        if attempt.status != "asking":
            return outcome_page.show(service, attempt, secret=secret)
        answer = _answer_question(service, attempt)
        return _continue(service, current, attempts.claim_answer(service, attempt), secret, answer)


def _show_sign_in(service: Service, current: Visit, app: App, account: Account | None, secret: str) -> Response:
    texts = forms.posted_fields(current)
    try:
        values = domain_fields.checked(forms.client_fields(current, app), texts)
    except Invalid as error:
        return forms.show(service, current, app, account, texts=texts, details=error.details, secret=secret, status=422)
    client = forms.own_client(service, current, app, values)
    if problem := _address_problem(service, app, client, values):
        return forms.show(service, current, app, account, texts=texts, problem=problem, secret=secret, status=422)
    own_id = client.id if client and client.external_user_id else None
    wanted = forms.attempt_request(service, current, app, account, values, own_id=own_id)
    _, secret = attempts.create(service, current.token, wanted)
    return pages.show_start(service, current, app, account, secret, values=values, client=client)


def _address_problem(service: Service, app: App, client: OAuthApp | None, values: Mapping[str, str]) -> str | None:
    """Why ``values`` do not give valid addresses of the provider, such as a malformed subdomain; None if they do."""
    if client is None:
        raise NoClient
    try:
        provider.oauth_provider(service, app, client, values)
    except TemplateError as error:
        return str(error)
    return None


def _connect(
    service: Service, current: Visit, app: App, account: Account | None, attempt: Attempt, secret: str
) -> Response:
    if attempt.status != "open":  # the same form, sent twice: show what became of the first
        return outcome_page.show(service, attempt, secret=secret)
    return _test(
        service, current, app, account, attempts.claim_keys(service, attempt), secret, forms.posted_fields(current), {}
    )


def _continue(service: Service, current: Visit, attempt: Attempt, secret: str, answer: Mapping[str, str]) -> Response:
    """Connect with the person's ``answer`` to what was asked about their keys."""
    kept = attempts.unsealed(service, attempt)
    account = visit.account_of(service, current.token, attempt.account_id) if attempt.account_id else None
    answers = {**kept["answers"], **answer}
    return _test(service, current, service.app(attempt.app), account, attempt, secret, kept["texts"], answers)


def _test(
    service: Service,
    current: Visit,
    app: App,
    account: Account | None,
    attempt: Attempt,
    secret: str,
    texts: Mapping[str, str],
    answers: Mapping[str, str],
) -> Response:
    """Test the keys in ``texts`` and connect; ``attempt`` was claimed for it."""
    try:
        connected = connections.connect_with_keys(
            service,
            current.token,
            app,
            texts,
            account_id=attempt.account_id,
            on_commit=attempts.record_connected(attempt),
            answers=answers,
        )
        hosted_servers.read_tools(service, connected)
    except Undecided as undecided:
        attempts.ask(service, attempt, undecided.question, texts=texts, answers=answers)
    except Invalid as error:
        attempts.reopen(service, attempt)
        return forms.show(service, current, app, account, texts=texts, details=error.details, secret=secret, status=422)
    except ConnectFailed as error:
        attempts.fail(service, attempt, error)
        return forms.show(service, current, app, account, texts=texts, problem=error.message, status=422)
    except PatchbayError as error:
        attempts.fail(service, attempt, error)
        raise
    except BaseException:
        attempts.fail(service, attempt, PatchbayError("The connection could not be finished."))
        raise
    return outcome_page.show(service, attempts.get(service.store, attempt.id), secret=secret)


def _answer_question(service: Service, attempt: Attempt) -> dict[str, str]:
    """The answer by the kind of the question. Raises :class:`AttemptUnknown` for one that was not offered."""
    question = Question.of(attempts.unsealed(service, attempt)["question"])
    answer = request.form.get("answer", "")
    if not question.admits(answer):
        raise AttemptUnknown
    return {question.kind: answer}
