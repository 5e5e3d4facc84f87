"""Exchanging the fields of a key account for a credential that lives for a while, as its app says (``[session]``).

The credential is kept beside the fields, sealed with them, and renewed from them under the lease of a refresh.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from webapp.kit.clock import SECOND
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import SESSION_TOKEN
from webapp.service.domain.accounts import provider
from webapp.service.domain.accounts.provider import CheckResult
from webapp.service.domain.base.service import Service
from webapp.service.outbound import sessions
from webapp.service.outbound.oauth import OAuthFailure
from webapp.service.outbound.sessions import SessionSpec


@dataclass(frozen=True, slots=True)
class Session:
    """``values`` of an account with what was got for them, and when that expires (epoch milliseconds)."""

    values: Mapping[str, str] = field(repr=False)
    expires_at: int | None


def begin(service: Service, app: App, spec: SessionSpec, values: Mapping[str, str]) -> Session | OAuthFailure:
    """Exchange the fields in ``values`` for a credential."""
    result = sessions.begin(service.client_for(app), spec, values)
    if isinstance(result, OAuthFailure):
        return provider.naming_failure(result, app)
    paths = app.spec.session.keep if app.spec.session else {}
    kept = provider.kept(paths, result.raw)
    if paths.keys() - kept.keys():
        return OAuthFailure(
            "misconfigured", f"{app.name} gave an incomplete answer. Ask the operator to check the app."
        )
    life = (result.expires_in or 0) * SECOND
    return Session({**values, **kept, SESSION_TOKEN: result.access_token}, service.clock() + life)


def identify(service: Service, app: App, values: Mapping[str, str]) -> tuple[Session, CheckResult]:
    """Whether the fields in ``values`` are good, and whose they are; with what they were exchanged for, if anything."""
    if app.session is None:
        return Session(values, None), provider.identify(service, app, values)
    session = begin(service, app, app.session, values)
    if isinstance(session, Session):
        return session, provider.identify(service, app, session.values)
    kind: Literal["trouble", "refused"] = "refused" if session.kind == "grant_dead" else "trouble"
    return Session(values, service.clock()), CheckResult(kind, session.sentence)
