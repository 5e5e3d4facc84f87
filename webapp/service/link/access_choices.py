"""The choices of access to an app: its scope profiles, each with its grants in plain words."""

from dataclasses import dataclass

from webapp.kit.translation import lazy as _
from webapp.kit.translation import translated
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import oauth_apps, provider_scopes
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.accounts.provider_scopes import Addition, asked_for
from webapp.service.domain.base.service import Service
from webapp.service.link.visit import Visit

EVERYTHING = ""
_LABELS = {
    "read_only": _("Read only"),
    "full": _("Full access"),
    "full_access": _("Full access"),
    "bot": _("As the app's bot"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One profile; ``name`` is empty for the app's usual access."""

    name: str
    label: str
    grants: tuple[str, ...]
    scopes: tuple[str, ...]
    chosen: bool


def choices(
    service: Service, current: Visit, app: App, account: Account | None = None, client: OAuthApp | None = None
) -> list[Choice]:
    """The usual access, unless a profile says the same, then the profiles; the link, or the account
    that is reconnected, names the chosen one.
    """
    client = client or chosen_client(service, current, app)
    if account and (addition := addition_of(service, current, app, account, client)) and addition.scopes:
        profile = account.scope_profile or EVERYTHING
        scopes = tuple(dict.fromkeys((*asked_for(app, client, profile), *addition.scopes)))
        return [Choice(profile, _label(profile), _words(app, scopes), scopes, chosen=True)]
    usual = asked_for(app, client, EVERYTHING)
    offered = {profile.name: asked_for(app, client, profile.name) for profile in app.spec.scope_profiles}
    if not any(set(scopes) == set(usual) for scopes in offered.values()):
        offered = {EVERYTHING: usual, **offered}
    before = account.scope_profile if account else None
    chosen = current.parameters.get("oauthScopeProfile") or before or EVERYTHING
    if chosen not in offered:
        chosen = next(name for name, scopes in offered.items() if set(scopes) == set(usual))
    return [Choice(name, _label(name), _words(app, scopes), scopes, name == chosen) for name, scopes in offered.items()]


def chosen_client(service: Service, current: Visit, app: App) -> OAuthApp | None:
    """The OAuth client that the link, or the project, uses for ``app``."""
    return oauth_apps.choose(
        service.store, current.project.id, app.slug, current.oauth_app_id, user_id=current.token.user.id
    )


def addition_of(
    service: Service, current: Visit, app: App, account: Account | None, client: OAuthApp | None = None
) -> Addition | None:
    """What the reconnected ``account`` lacks for the action that the link names; None if that is nothing."""
    key = current.parameters.get("action")
    if account is None or not key or app.auth_type != "oauth":
        return None
    return provider_scopes.addition(service, account, client or chosen_client(service, current, app), key)


def _label(name: str) -> str:
    return _LABELS.get(name) or (translated(name.replace("_", " ").capitalize()) if name else _("Full access"))


def _words(app: App, scopes: tuple[str, ...]) -> tuple[str, ...]:
    words = ((scope, translated(app.scope_words(scope))) for scope in scopes)
    shown = (word if word == scope else word[:1].upper() + word[1:].rstrip(".") for scope, word in words)
    return tuple(dict.fromkeys(shown))
