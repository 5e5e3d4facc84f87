"""Requests to an account's provider: combines the app's declared facts with an OAuth app and credentials.

Only here do the catalog's declarations meet the outbound client. Nothing is written. Addresses that an app names only
by their issuer are discovered at first use and kept for an hour. The fields of a key account are exchanged for a
short-lived credential if the app declares it (``[session]``). An app from an npm package is tested by that package, in
a new process for each test, within the hosts that its owner allows; without a test in the package, every account
passes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Literal, get_args

from webapp.kit.clock import HOUR, SECOND
from webapp.kit.crypto import new_id
from webapp.kit.text import naming, one_line
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import SESSION_TOKEN
from webapp.service.components.limits import CONFIGURE_S
from webapp.service.components.pieces import auth_values
from webapp.service.components.pieces.package_calls import PackageCall
from webapp.service.domain.accounts import accounts, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.credentials import ACCESS_TOKEN, REFRESH_TOKEN
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.service import Service
from webapp.service.outbound import key_sessions, oauth, probe, smtp
from webapp.service.outbound.bodies import at_path
from webapp.service.outbound.databases import ENGINES, Engine, account_of
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.key_sessions import SessionSpec
from webapp.service.outbound.oauth import Provider, TokenResult
from webapp.service.outbound.oauth_failures import UNKNOWN_CLIENT, OAuthFailure
from webapp.service.outbound.templates import TemplateError, fill_url
from webapp.service.outbound.urls import parse_port

MAX_KEPT, MAX_SITES = 2_000, 100
_GONE = frozenset({404, 410, 422})  # how providers answer a revocation of what they do not know any more
DISCOVERED_FOR, MAX_DISCOVERED = HOUR, 500
_lock = Lock()
_discovered: dict[tuple[str, str], tuple[int, Mapping[str, str]]] = {}
PieceAnswer = tuple[Literal["ok", "refused", "trouble"], str]
_MAX_MESSAGE = 300
_FORGOTTEN = "{app} has forgotten the client with which this account was connected. Connect the account again."


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a test of credentials, and their identity; ``identity_text`` is the best name for it."""

    kind: Literal["ok", "refused", "trouble"]
    sentence: str = ""
    identity_id: str | None = None
    identity_name: str | None = None
    identity_text: str | None = None
    retry_after_s: int | None = field(default=None)


def oauth_provider(
    service: Service, app: App, client: OAuthApp, values: Mapping[str, str], profile: str | None = None
) -> Provider:
    """The OAuth provider of ``app`` as ``client`` meets it; ``values`` fill the templates of its addresses, and
    ``profile`` is the scope profile of a sign-in. Raises :class:`TemplateError`."""
    discovered = endpoints(service, app, values) if app.is_discovered else None
    return app.provider(client.client_id, oauth_apps.secret(service, client), values, profile, discovered)


def identify(service: Service, app: App, values: Mapping[str, str]) -> CheckResult:
    """Ask the provider whether ``values`` are good, and whose they are. An app that declares no request is believed."""
    tested = test(service, app, values)
    if tested.kind != "ok" or app.identity_request is None or tested.identity_id:
        return tested
    outcome = probe.probe(service.client_for(app), app.identity_request, values, app.refusal_rules)
    if outcome.status == 403 and app.identity_is_optional:
        return tested
    if outcome.kind != "ok":
        return CheckResult(outcome.kind, naming(outcome.sentence, app.name), retry_after_s=outcome.retry_after_s)
    return _identified(app, outcome)


def can_test(app: App) -> bool:
    """Whether ``app`` has a test for accounts; :func:`test` passes all otherwise."""
    if app.test_kind == "piece":
        return app.spec.piece is not None and app.spec.piece.auth.validated
    if app.test_kind == "none":
        return app.identity_request is not None
    return bool(app.test_kind or app.test_request or app.identity_request)


def test(service: Service, app: App, values: Mapping[str, str]) -> CheckResult:
    """Make the app's test request with ``values``."""
    if engine := ENGINES.get(app.test_kind or ""):
        return _test_database(service, app, engine(), values)
    if app.test_kind == "smtp":
        return _test_smtp(service, app, values)
    if app.test_kind == "piece":
        return CheckResult(*check_by_piece(service, app, values))
    if app.mcp_request is not None:
        tested = probe.probe_mcp(service.client_for(app), app.mcp_request, values, app.refusal_rules)
        return CheckResult(tested.kind, naming(tested.sentence, app.name), retry_after_s=tested.retry_after_s)
    spec = app.test_request or app.identity_request
    if spec is None:
        return CheckResult("ok")
    outcome = probe.probe(service.client_for(app), spec, values, app.refusal_rules)
    if outcome.kind == "ok" and spec == app.identity_request:
        return _identified(app, outcome)
    return CheckResult(outcome.kind, naming(outcome.sentence, app.name), retry_after_s=outcome.retry_after_s)


def refresh(service: Service, account: Account, values: Mapping[str, str]) -> TokenResult | OAuthFailure:
    """New tokens for ``account``. Raises :class:`webapp.errors.NotFound` if its app or client was deleted."""
    client = oauth_apps.get(service.store, account.oauth_app_id or "")
    return renew(service, accounts.app_of(service, account), client, values)


def renew(service: Service, app: App, client: OAuthApp, values: Mapping[str, str]) -> TokenResult | OAuthFailure:
    """New tokens for the refresh token in ``values``, which ``client`` got. Raises :class:`TemplateError`."""
    named = oauth_provider(service, app, client, values)
    result = oauth.refresh(service.client_for(app), named, refresh_token=values[REFRESH_TOKEN])
    if isinstance(result, OAuthFailure) and client.registered_issuer and result.error_code in UNKNOWN_CLIENT:
        return OAuthFailure("grant_dead", _FORGOTTEN.format(app=app.name), result.error_code, status=result.status)
    return naming_failure(result, app) if isinstance(result, OAuthFailure) else result


def naming_failure(failure: OAuthFailure, app: App) -> OAuthFailure:
    """``failure`` with the name of its app."""
    return replace(failure, sentence=naming(failure.sentence, app.name))


def revoke(service: Service, account: Account, values: Mapping[str, str]) -> OAuthFailure | None:
    """Revoke the grant of ``account`` at its provider: by RFC 7009, or by the request that the app declares.

    Raises :class:`webapp.errors.NotFound` if its app or client was deleted.
    """
    app = accounts.app_of(service, account)
    client = oauth_apps.get(service.store, account.oauth_app_id or "")
    if app.revocation_request is not None:
        return _revoke_by_request(service, app, app.revocation_request, client, values)
    provider, outbound = oauth_provider(service, app, client, values), service.client_for(app)
    token = values.get(REFRESH_TOKEN)
    if token:
        return oauth.revoke(outbound, provider, token=token)
    return oauth.revoke(outbound, provider, token=values[ACCESS_TOKEN], hint="access_token")


def kept_of_tokens(app: App, result: TokenResult) -> dict[str, str]:
    """The values of a token response that the app keeps besides the tokens, such as the address of an instance."""
    return _kept_values(app.oauth.keep if app.oauth else {}, result.raw)


def look_up(service: Service, app: App, values: Mapping[str, str]) -> list[dict[str, str]] | CheckResult:
    """``values`` with those that the app looks up after a sign-in, once for each site that it reaches, or the
    failure.
    """
    spec, look_up = app.look_up_request, app.oauth.look_up if app.oauth else None
    if spec is None or look_up is None:
        return [{}]
    outcome = probe.probe(service.client_for(app), spec, values, app.refusal_rules)
    if outcome.kind != "ok":
        return CheckResult(outcome.kind, naming(outcome.sentence, app.name), retry_after_s=outcome.retry_after_s)
    body = at_path(outcome.body, look_up.items) if look_up.items else outcome.body
    bodies = body[:MAX_SITES] if look_up.label and isinstance(body, list) else [body]
    sites = [
        site for site in (_kept_values(look_up.keep, body) for body in bodies) if site.keys() == look_up.keep.keys()
    ]
    if sites:
        return sites
    return CheckResult(
        "refused", f"This sign-in gives access to no site of {app.name}. Get access to one, then try again."
    )


def _kept_values(paths: Mapping[str, str], body: Any) -> dict[str, str]:
    """The values at the dotted ``paths`` of a response, by field."""
    values = {name: at_path(body, path) for name, path in paths.items()}
    texts = {name: one_line(str(value), MAX_KEPT) for name, value in values.items() if isinstance(value, str | int)}
    return {name: text for name, text in texts.items() if text}


def _revoke_by_request(
    service: Service, app: App, spec: probe.RequestSpec, client: OAuthApp, values: Mapping[str, str]
) -> OAuthFailure | None:
    """Make the app's own request for a revocation. A grant that is not known there any more is revoked."""
    secret = oauth_apps.secret(service, client) or ""
    fields = {**values, "oauth_client_id": client.client_id, "oauth_client_secret": secret}
    outcome = probe.probe(service.client_for(app), spec, fields, app.refusal_rules)
    by_client = (
        app.oauth is not None and app.oauth.revocation is not None and app.oauth.revocation.credential == "client"
    )
    if outcome.kind == "ok" or outcome.status in _GONE or (outcome.kind == "refused" and not by_client):
        return None
    return OAuthFailure("temporary" if outcome.kind == "trouble" else "misconfigured", outcome.sentence)


def _test_database(service: Service, app: App, engine: Engine, values: Mapping[str, str]) -> CheckResult:
    """A database is tested by signing in to it; it has no HTTP request to make."""
    account = account_of(values, engine.DEFAULT_PORT)
    if account is None:
        return CheckResult("refused", f"The port must be a number from 1 to 65535, such as {engine.DEFAULT_PORT}.")
    outcome = engine.check(service.client_for(app).guard, account)
    name = f"{account.user}@{account.host}/{account.database}"
    return CheckResult(outcome.kind, outcome.sentence, name, name, name)


def _test_smtp(service: Service, app: App, values: Mapping[str, str]) -> CheckResult:
    """A mail server is tested by signing in to it; no mail is sent."""
    port = parse_port(values.get("port") or "465")
    if port is None:
        return CheckResult("refused", "The port must be a number from 1 to 65535, such as 465.")
    account = smtp.SmtpAccount(
        host=values.get("host", ""),
        port=port,
        user=values.get("user", ""),
        password=values.get("password", ""),
        encryption=next((name for name in get_args(smtp.Encryption) if name == values.get("encryption")), "tls"),
    )
    outcome = smtp.check_smtp(service.client_for(app), account)
    identity = f"{account.user}@{account.host}"
    name = account.user if "@" in account.user else identity
    return CheckResult(outcome.kind, outcome.sentence, identity, name, name)


def _identified(app: App, outcome: probe.ProbeOutcome) -> CheckResult:
    identity = probe.identity(outcome.body, *app.identity_paths)
    if identity is None:
        return CheckResult("ok")
    return CheckResult("ok", identity_id=identity.id, identity_name=identity.name, identity_text=identity.text)


def endpoints(service: Service, app: App, values: Mapping[str, str]) -> Mapping[str, str]:
    """The addresses from the discovery of the issuer of ``app``, whose own address is filled with ``values``.

    Raises :class:`TemplateError` with a sentence if discovery fails.
    """
    issuer = fill_url((app.oauth and app.oauth.issuer) or "", values)
    key, now = (str(service.settings.data), issuer), service.clock()
    until, addresses = _discovered.get(key, (0, {}))
    if now < until <= now + DISCOVERED_FOR:
        return addresses
    outcome = oauth.discover(service.client_for(app), issuer)
    if isinstance(outcome, Failure):
        raise TemplateError(naming(outcome.sentence, app.name))
    with _lock:
        if len(_discovered) >= MAX_DISCOVERED:
            _discovered.clear()
        _discovered[key] = (now + DISCOVERED_FOR, outcome)
    return outcome


@dataclass(frozen=True, slots=True)
class KeySession:
    """The ``values`` of an account with the credential for which they were exchanged, and its expiry (epoch
    milliseconds).
    """

    values: Mapping[str, str] = field(repr=False)
    expires_at: int | None


def begin_session(
    service: Service, app: App, spec: SessionSpec, values: Mapping[str, str]
) -> KeySession | OAuthFailure:
    """Exchange the fields in ``values`` for a credential."""
    result = key_sessions.begin(service.client_for(app), spec, values)
    if isinstance(result, OAuthFailure):
        return naming_failure(result, app)
    paths = app.spec.session.keep if app.spec.session else {}
    kept = _kept_values(paths, result.raw)
    if paths.keys() - kept.keys():
        return OAuthFailure(
            "misconfigured", f"{app.name} gave an incomplete answer. Ask the operator to check the app."
        )
    life = (result.expires_in or 0) * SECOND
    return KeySession({**values, **kept, SESSION_TOKEN: result.access_token}, service.clock() + life)


def identify_session(service: Service, app: App, values: Mapping[str, str]) -> tuple[KeySession, CheckResult]:
    """Whether the fields in ``values`` are good, and whose they are; with what they were exchanged for, if anything."""
    if app.session is None:
        return KeySession(values, None), identify(service, app, values)
    session = begin_session(service, app, app.session, values)
    if isinstance(session, KeySession):
        return session, identify(service, app, session.values)
    kind: Literal["trouble", "refused"] = "refused" if session.kind == "grant_dead" else "trouble"
    return KeySession(values, service.clock()), CheckResult(kind, session.sentence)


def check_by_piece(service: Service, app: App, values: Mapping[str, str]) -> PieceAnswer:
    """Whether the package of ``app`` accepts ``values``, and a sentence for the person if not."""
    piece = app.spec.piece
    if piece is None or not piece.auth.validated:
        return "ok", ""
    shown = {field.name for field in app.spec.fields if not field.secret}
    reply = service.executor.ask_package(
        PackageCall(
            folder=service.settings.data / "pieces" / piece.folder,
            name=piece.package,
            method="validate",
            fields={"auth": auth_values.of_account(piece.auth, values), "index": piece.auth.index},
            hosts=(*piece_hosts.of_package(service.store, piece.package), *auth_values.hosts_of(piece.auth, values)),
            allow_hosts=service.settings.allow_hosts,
            user=new_id("check"),  # so that no process knows two people's accounts
            mask=tuple(value for name, value in values.items() if name not in shown),
            deadline_s=CONFIGURE_S,
        )
    )
    answer = reply.value if reply.ok and isinstance(reply.value, Mapping) else {}
    if reply.refused_hosts:
        piece_hosts.note_of(service, piece.package, reply.refused_hosts)
    if answer.get("valid") is True:
        return "ok", ""
    if reply.refused_hosts:
        host = reply.refused_hosts[0]
        return "trouble", f"{app.name} asked for {host}, which its owner does not let it reach. Ask them to allow it."
    if reply.error is not None:
        return "trouble", naming(reply.error.message[:_MAX_MESSAGE], app.name)
    words = " ".join(str(answer.get("error") or "").split())[:_MAX_MESSAGE]
    return "refused", naming(words, app.name) if words else f"{app.name} did not accept this. Check it, and try again."
