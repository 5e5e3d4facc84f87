"""The OAuth scopes that a provider is asked for when an account is connected, and those that an action needs besides.

Those of a connection are the chosen profile's, else the OAuth client's own, else the app's usual ones. What an action
needs is said by the description of its app's whole API. Nothing of that is asked for by itself: a refused run names
what the account lacks, and a person adds it by reconnecting the account for that action. It is asked for besides what
the account has, and only if the OAuth client may ask for it. The scopes of our own tokens are in
:mod:`webapp.service.domain.base.token_scopes`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from webapp.service.catalog.app import App
from webapp.service.components.declared import definition, source
from webapp.service.components.declared.form import ActionForm
from webapp.service.components.errors import LoadError
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.service import Service


def asked_for(app: App, client: OAuthApp | None, profile: str) -> tuple[str, ...]:
    """The scopes to ask for: the ``profile``'s; else the client's own or the app's usual ones, and what the client
    adds. The usual access has the profile "".
    """
    chosen = app.profile_scopes(profile) if profile else None
    usual = client.scopes if client and client.scopes else app.default_scopes
    more = client.additional_scopes if client else ()
    return chosen or tuple(dict.fromkeys((*usual, *more)))


@dataclass(frozen=True, slots=True)
class Addition:
    """What is asked for in addition so that an account can be used with ``action``: all of ``scopes``, of which
    the account lacks ``lacking``. ``refused`` are lacking, too, but its OAuth client may not ask for them.
    """

    action: str
    lacking: tuple[str, ...]
    scopes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def alternatives(path: Path) -> tuple[tuple[str, ...], ...]:
    """What the component at ``path`` needs: one of these, whole; nothing for one that does not say it."""
    if not source.is_declared(path):
        return ()
    try:
        form = definition.component(path).form
    except LoadError:
        return ()
    return form.scopes if isinstance(form, ActionForm) else ()


def lacking(app: App, granted: Sequence[str], needed: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The scopes of the alternative that needs the fewest more; none if one of them is given whole.

    Of several, it is one whose scopes the app's facts name, if there is one.
    """
    included = {name for scope in app.spec.scopes if scope.scope in granted for name in scope.includes}
    known = {scope.scope for scope in app.spec.scopes}
    missing = [tuple(name for name in each if name not in granted and name not in included) for each in needed]
    return min(missing, key=lambda names: (len(names), len(set(names) - known)), default=())


def addition(service: Service, account: Account, client: OAuthApp | None, key: str) -> Addition | None:
    """What to ask for when ``account`` is reconnected for the action ``key``; None if it lacks nothing.

    A ``client`` with scopes of its own asks for no others.
    """
    component = service.catalog.component(key)
    app = accounts.find_app(service, account)
    if component is None or app is None or component.app != account.app:
        return None
    missing = lacking(app, account.authorized_scopes, alternatives(component.path))
    if not missing:
        return None
    allowed = {*client.scopes, *client.additional_scopes} if client and client.scopes else set(missing)
    refused = tuple(name for name in missing if name not in allowed)
    scopes = () if refused else tuple(dict.fromkeys((*account.authorized_scopes, *missing)))
    return Addition(component.name, missing, scopes, refused)
