"""Imports accounts that another service connected, one row of a file at a time (imports "What happens to a row").

A row becomes an account or nothing. What the provider accepts is committed with sealed credentials; what it refuses
leaves no row. A refresh token may be good for one use, so what a refresh returned is committed at once and tested after
that; if the process ends in between, the next run completes it. An account has an id that follows from its row, so the
same row twice is one account, which an import never changes. Results contain no secret.
"""

import contextvars
import hashlib
import hmac
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

from webapp.errors import Invalid, NotFound, PatchbayError, Refused
from webapp.kit.crypto import stable_id
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import (
    account_names,
    account_state,
    accounts,
    connections,
    credentials,
    fields,
    oauth_apps,
    provider,
    refresh_times,
    token_refresh,
)
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.connections import AcceptedCredentials
from webapp.service.domain.accounts.credentials import ACCESS_TOKEN, REFRESH_TOKEN, UID
from webapp.service.domain.accounts.import_files import Row
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.accounts.provider import CheckResult
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.service.outbound.templates import TemplateError

Kind = Literal["imported", "there", "valid", "invalid", "refused", "unanswered"]
KINDS: Mapping[Kind, str] = {
    "imported": "imported",
    "there": "there already",
    "valid": "valid, not imported",
    "invalid": "not valid",
    "refused": "refused by the provider",
    "unanswered": "not answered by the provider",
}
FAILED: tuple[Kind, ...] = ("invalid", "refused", "unanswered")
_OF_CHECK: Mapping[str, Kind] = {"refused": "refused", "trouble": "unanswered"}
_AHEAD = 4
_SHORTEST_SECRET = 4


@dataclass(frozen=True, slots=True)
class RowResult:
    """What became of a row; ``reason`` is a sentence where there is something to say."""

    row: Row
    kind: Kind
    account_id: str | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """A line of the report."""
        return {
            "line": self.row.line,
            "external_user": self.row.external_user,
            "app": self.row.app,
            "id": self.row.id or None,
            "result": self.kind,
            "account": self.account_id,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A row that is valid here: its app, its client, and the credentials that its provider has not seen yet."""

    row: Row
    app: App
    client: OAuthApp | None
    values: Mapping[str, str]
    expires_at: int | None
    name: str | None
    account_id: str

    def accepted(self, values: Mapping[str, str], expires_at: int | None, check: CheckResult) -> AcceptedCredentials:
        """The credentials ``values`` and whose they are."""
        if self.client is not None and check.identity_id:
            values = {**values, UID: check.identity_id}
        return AcceptedCredentials(
            self.app,
            values,
            check.identity_id,
            check.identity_name,
            check.identity_text,
            trouble=check.sentence if check.kind == "trouble" else None,
            name=self.name,
            oauth_app_id=self.client.id if self.client else None,
            scopes=self.row.scopes,
            expires_at=expires_at,
        )


def import_rows(
    service: Service, scene: Scene, rows: Iterable[Row], *, test: bool, dry_run: bool, at_once: int
) -> Iterator[RowResult]:
    """Import ``rows`` into ``scene``, ``at_once`` beside each other; the results come in the order of the rows.

    Without ``test`` no provider is asked. ``dry_run`` asks none either, and writes nothing.
    """
    pending: deque[Future[RowResult]] = deque()
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="import")
    try:
        for row in rows:
            work = contextvars.copy_context()  # whose deed it is
            pending.append(pool.submit(work.run, import_row, service, scene, row, test=test, dry_run=dry_run))
            if len(pending) > at_once * _AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
        service.wake()


def import_row(service: Service, scene: Scene, row: Row, *, test: bool, dry_run: bool) -> RowResult:
    """Import one row."""
    if row.problem:
        return RowResult(row, "invalid", reason=row.problem)
    try:
        result = _result(service, scene, row, test=test, dry_run=dry_run)
    except Invalid as error:
        result = RowResult(row, "invalid", reason=error.message)
    except TemplateError as error:
        result = RowResult(row, "unanswered", reason=str(error))
    except PatchbayError as error:
        result = RowResult(row, "refused" if isinstance(error, Refused) else "unanswered", reason=error.message)
    return replace(result, reason=_without_secrets(row, result.reason))


def _result(service: Service, scene: Scene, row: Row, *, test: bool, dry_run: bool) -> RowResult:
    candidate = _candidate(service, scene, row)
    account = accounts.find(service.store, scene, candidate.account_id)
    if account is not None and (dry_run or not test or not _is_interrupted(account)):
        return RowResult(row, "there", account.id, account.error)
    if dry_run:
        return RowResult(row, "valid")
    if account is not None:
        return _completed(service, candidate, account)
    if not test:
        untested = candidate.accepted(candidate.values, candidate.expires_at, CheckResult("ok"))
        return _stored(service, scene, candidate, untested, "untested")
    if candidate.client is None:
        session, check = provider.identify_session(service, candidate.app, candidate.values)
        return _judged(service, scene, candidate, session.values, session.expires_at, check)
    return _granted(service, scene, candidate, candidate.client)


def _is_interrupted(account: Account) -> bool:
    """Whether an import has renewed its access, and ended before it was tested."""
    return account.revision == 0 and account.last_checked_at is None and account.last_refreshed_at is not None


def _candidate(service: Service, scene: Scene, row: Row) -> _Candidate:
    """The row as an account could be made of it. Raises :class:`Invalid`."""
    external_users.checked(row.external_user)
    name = account_names.checked(row.name)
    app = service.catalog.app(row.app)
    if app is None:
        raise Invalid(f"There is no app {row.app[:50]!r}; `patchbay catalog check` lists them.")
    if app.auth_type == "none":
        raise Invalid(f"{app.name} needs no account.")
    if app.signs_in and (row.access_token or row.refresh_token or row.oauth_client):
        app = app.by_sign_in
    client, expires_at = None, None
    if app.auth_type == "oauth":
        client = _client(service, scene, app, row)
        values = _tokens(app, row)
        expires_at = row.expires_at if values[ACCESS_TOKEN] else service.clock()
    elif row.access_token or row.refresh_token or row.oauth_client:
        raise Invalid(f"{app.name} is connected by keys: its values belong into credentials.")
    else:
        values = _fields(app, row.credentials, ())
    account_id = _account_id(service, scene, app, row, values)
    return _Candidate(row, app, client, values, expires_at, name, account_id)


def _client(service: Service, scene: Scene, app: App, row: Row) -> OAuthApp:
    if not row.oauth_client:
        client = oauth_apps.choose(service.store, scene.project_id, app.slug)
        problem = f"{app.name} has no OAuth client here. Add the one that the account was connected with."
    elif row.oauth_client.startswith("oa_"):
        try:
            client = oauth_apps.choose(service.store, scene.project_id, app.slug, row.oauth_client)
        except NotFound:
            client = None
        problem = f"No OAuth client for {app.name} with this id is here."
    else:
        client = oauth_apps.of_client_id(service.store, scene.project_id, app.slug, row.oauth_client)
        problem = f"No OAuth client for {app.name} with this client ID is here. Add it, and run the import again."
    if client is None:
        raise Invalid(problem)
    return client


def _tokens(app: App, row: Row) -> dict[str, str]:
    """The credentials of an OAuth account. Raises :class:`Invalid`."""
    oauth = app.oauth
    kept = (*oauth.keep, *(oauth.look_up.keep if oauth.look_up else ())) if oauth else ()
    values = {**_fields(app, row.credentials, kept), ACCESS_TOKEN: row.access_token}
    if row.refresh_token:
        values[REFRESH_TOKEN] = row.refresh_token
    if not row.access_token and (not row.refresh_token or (oauth and oauth.refresh == "none")):
        what = "an access token" if oauth and oauth.refresh == "none" else "a refresh token or an access token"
        raise Invalid(f"{app.name} needs {what}.")
    return values


def _fields(app: App, texts: Mapping[str, str], kept: Iterable[str]) -> dict[str, str]:
    """The app's fields from ``texts``, and of ``kept`` those that are there. Raises :class:`Invalid`."""
    names = {field.name for field in app.spec.fields} | {
        field.read_from for field in app.spec.fields if field.read_from
    }
    if unknown := [name for name in texts if name not in names and name not in kept]:
        raise Invalid(
            f"{app.name} has no field {unknown[0][:50]!r}; it has {', '.join(sorted({*names, *kept})) or 'none'}."
        )
    values = fields.checked(app.spec.fields, texts)
    return values | {name: texts[name] for name in kept if texts.get(name) and name not in values}


def _account_id(service: Service, scene: Scene, app: App, row: Row, values: Mapping[str, str]) -> str:
    """The id that follows from the row: from its own id, or without one from its credentials."""
    if row.id:
        mark = f"id {row.id}"
    else:
        text = "\0".join(part for item in sorted(values.items()) for part in item)
        key = service.keys.derive("account-imports")
        mark = hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    return stable_id("apn", "import", scene.project_id, scene.environment, row.external_user, app.slug, mark)


def _granted(service: Service, scene: Scene, candidate: _Candidate, client: OAuthApp) -> RowResult:
    """Test the tokens of a row, renewed first if they have expired or are refused."""
    values, expires_at = dict(candidate.values), candidate.expires_at
    if refresh_times.is_usable(service.clock(), expires_at):
        check = _identified(service, candidate, client, values)
        if check.kind != "refused" or not values.get(REFRESH_TOKEN):
            return _judged(service, scene, candidate, values, expires_at, check)
    if not values.get(REFRESH_TOKEN):
        return RowResult(candidate.row, "refused", reason="Its access has expired, and there is no refresh token.")
    result = provider.renew(service, candidate.app, client, values)
    if isinstance(result, OAuthFailure):
        kind: Kind = "refused" if result.kind == "grant_dead" else "unanswered"
        return RowResult(candidate.row, kind, reason=result.sentence)
    values |= {**provider.kept_of_tokens(candidate.app, result), ACCESS_TOKEN: result.access_token}
    if result.refresh_token:
        values[REFRESH_TOKEN] = result.refresh_token
    renewed = candidate.accepted(values, refresh_times.expiry_time(service.clock(), result), CheckResult("ok"))
    account_id = candidate.account_id
    external_user = candidate.row.external_user
    account = connections.store_imported(service, scene, external_user, renewed, account_id=account_id, state="renewed")
    return _completed(service, candidate, account)


def _completed(service: Service, candidate: _Candidate, account: Account) -> RowResult:
    """Test an account that is stored and was not tested yet. One that its provider refuses is removed again."""
    try:
        account = token_refresh.ensure_fresh(service, account)
    except Refused as error:
        return _discarded(service, candidate, account, error.message)
    values = credentials.read(service, account)
    if candidate.client is None:
        check = provider.identify(service, candidate.app, values)
    else:
        check = _identified(service, candidate, candidate.client, values)
    if check.kind == "refused":
        return _discarded(service, candidate, account, check.sentence)
    if twin := _twin(service, account.scene, candidate, check):
        _discarded(service, candidate, account, "")
        return twin
    accepted = candidate.accepted(values, account.expires_at, check)
    return _stored(service, account.scene, candidate, accepted, "tested", existing=account)


def _discarded(service: Service, candidate: _Candidate, account: Account, reason: str) -> RowResult:
    with service.store.write() as tx:
        account_state.discard(tx, account)
    return RowResult(candidate.row, "refused", reason=reason)


def _identified(service: Service, candidate: _Candidate, client: OAuthApp, values: dict[str, str]) -> CheckResult:
    """Whose the tokens in ``values`` are; what the app looks up after a sign-in is added to them, if it lacks."""
    app = candidate.app
    look_up = app.oauth.look_up if app.oauth else None
    if look_up and not look_up.keep.keys() <= values.keys():
        sites = provider.look_up(service, app, values)
        if isinstance(sites, CheckResult):
            return sites
        if len(sites) > 1:
            shown = ", ".join(site[app.site_label] for site in sites[:10])
            return CheckResult(
                "refused", f"It reaches several sites. Say which in credentials, {app.site_label}: {shown}."
            )
        values |= sites[0]
    return provider.identify(service, app, credentials.with_client(service, app, client, values))


def _judged(
    service: Service,
    scene: Scene,
    candidate: _Candidate,
    values: Mapping[str, str],
    expires_at: int | None,
    check: CheckResult,
) -> RowResult:
    """Store the account, if the provider accepted it and its user has no working account of the same identity."""
    if check.kind != "ok":
        return RowResult(candidate.row, _OF_CHECK[check.kind], reason=check.sentence)
    if twin := _twin(service, scene, candidate, check):
        return twin
    return _stored(service, scene, candidate, candidate.accepted(values, expires_at, check), "tested")


def _twin(service: Service, scene: Scene, candidate: _Candidate, check: CheckResult) -> RowResult | None:
    user = external_users.find(service.store, scene, candidate.row.external_user)
    if user is None or not check.identity_id:
        return None
    for account in accounts.of_app(service.store, scene, candidate.app.slug, user=user):
        if account.identity_id == check.identity_id and not account.dead and account.id != candidate.account_id:
            return RowResult(candidate.row, "there", account.id, "The user has connected this account already.")
    return None


def _stored(
    service: Service,
    scene: Scene,
    candidate: _Candidate,
    accepted: AcceptedCredentials,
    state: connections.ImportState,
    existing: Account | None = None,
) -> RowResult:
    account = connections.store_imported(
        service,
        scene,
        candidate.row.external_user,
        accepted,
        account_id=candidate.account_id,
        existing=existing,
        state=state,
    )
    return RowResult(candidate.row, "imported", account.id, accepted.trouble)


def _without_secrets(row: Row, reason: str | None) -> str | None:
    """``reason`` without values of the row, which a provider may repeat."""
    for secret in (row.access_token, row.refresh_token, *row.credentials.values()):
        if reason and len(secret) >= _SHORTEST_SECRET:
            reason = reason.replace(secret, "…")
    return reason
