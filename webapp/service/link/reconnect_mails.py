"""Where the links in reconnect mails lead (operate "Mails to people"), without a login.

The page lists the accounts that the link names; its first button uses the link up, and opens the Connect Link for that
one account, with a token that no page shows. The browser then continues for an hour, by a cookie. A GET changes
nothing, since programs open links before people do. The other page stops the mails to a person (RFC 8058).
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import Blueprint, Response, request

from webapp.kit import translation
from webapp.kit.clock import SECOND
from webapp.kit.crypto import same
from webapp.kit.translation import lazy as _
from webapp.people import preferences
from webapp.people.users import User
from webapp.service.catalog.app import App
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.failures import LinkExpired, LinkUsed
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import reconnect_links, reconnect_mails
from webapp.service.domain.instance.reconnect_links import ReconnectLink
from webapp.service.domain.projects import projects
from webapp.service.link import endings, pages
from webapp.service.link.endings import Ended, Ending
from webapp.service.link.responses import page, see_other

PATH = "/connect/reconnect"
TOKEN_LIFETIME_S = 3600

_ADVICE = _("Sign in and open Accounts to see what needs you.")
UNKNOWN = replace(endings.TOKEN_UNKNOWN, code="reconnect_link_unknown", advice=_ADVICE, status=404)
EXPIRED = replace(
    endings.of_code(LinkExpired.code),
    code="reconnect_link_expired",
    sentence=_("Links in mails work for seven days."),
    advice=_ADVICE,
    step="none",
    status=410,
)
USED = replace(
    endings.of_code(LinkUsed.code),
    code="reconnect_link_used",
    sentence=_("Each link in a mail works once."),
    advice=_ADVICE,
    step="none",
)
NO_APP = replace(endings.NO_SUCH_APP, step="none")
DONE = Ending(
    "reconnect_done",
    _("Nothing needs you any more"),
    _("The accounts of this link work again, or were disconnected."),
    _("You can close this page."),
    step="none",
    tone="info",
    icon="check",
    status=200,
)
STOP_UNKNOWN = replace(
    UNKNOWN,
    code="stop_link_unknown",
    sentence=_("It may be cut off, or its login was removed."),
    advice=_("Sign in and open Settings to choose which mails you get."),
)


@dataclass(frozen=True, slots=True)
class Listed:
    """An account as the page lists it; its app may have left the catalog."""

    account: Account
    app: App | None

    @property
    def title(self) -> str:
        """What the person calls it."""
        return self.account.name or self.account.identity_name or self.account.identity_id or ""

    @property
    def reconnects(self) -> bool:
        """Whether it needs its person, who can reconnect it here."""
        return self.account.dead and self.app is not None


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the routes of this module to ``blueprint``."""

    @blueprint.get(PATH)
    def open_mailed_link() -> Response:
        return _open(service, request.args.get("token", ""))

    @blueprint.post(PATH)
    def use_mailed_link() -> Response:
        return _use(service, request.form.get("token", ""))

    @blueprint.get(f"{PATH}/<link_id>")
    def show_mailed_accounts(link_id: str) -> Response:
        link = _of_visit(service, link_id)
        return _list(service, link, {"proof": _proof(service, link)}, f"{PATH}/{link.id}")

    @blueprint.post(f"{PATH}/<link_id>")
    def reconnect_mailed_account(link_id: str) -> Response:
        link = _of_visit(service, link_id)
        if not same(request.form.get("proof", ""), _proof(service, link)):
            raise Ended(USED)
        return _reconnect(service, link, _chosen(service, link))

    @blueprint.get("/connect/mails/stop")
    def ask_to_stop_mails() -> Response:
        return _stop_page(service, request.args.get("token", ""))

    @blueprint.post("/connect/mails/stop")
    def stop_mails() -> Response:
        token = request.args.get("token", "")
        reconnect_mails.stop(service, token)
        return _stop_page(service, token)


def _open(service: Service, token: str) -> Response:
    """The list of accounts of a link that is opened; a browser that has used it returns to its visit."""
    link = _of_token(service, token)
    if link.used_at is not None:
        return see_other(f"{PATH}/{link.id}")
    return _list(service, link, {"token": token}, PATH)


def _use(service: Service, token: str) -> Response:
    """Use a link up, and redirect to the Connect Link for the account that the form names."""
    link = _of_token(service, token)
    response = _reconnect(service, link, _chosen(service, link))
    if link.used_at is not None:
        return response
    with service.store.write() as tx:
        secret = reconnect_links.use(tx, service.clock(), token)
    if secret is None:  # another browser was quicker
        raise Ended(USED)
    response.set_cookie(
        _cookie(service, link.id),
        secret,
        max_age=reconnect_links.VISIT // SECOND,
        path=PATH,
        secure=service.settings.secure,
        httponly=True,
        samesite="Lax",
    )
    return response


def _of_token(service: Service, token: str) -> ReconnectLink:
    """The link of ``token``, unused or used by this browser while accounts still need its person.

    Raises :class:`Ended`.
    """
    link = reconnect_links.by_token(service.store, token)
    if link is None:
        raise Ended(UNKNOWN)
    _speak(service, reconnect_links.owner(service.store, link))
    if link.used_at is not None:
        visit = reconnect_links.of_visit(service.store, service.clock(), link.id, _secret(service, link.id))
        if visit is None or not any(account.dead for account in _accounts(service, link)):
            raise Ended(USED)
    elif link.expires_at <= service.clock():
        raise Ended(EXPIRED)
    return link


def _of_visit(service: Service, link_id: str) -> ReconnectLink:
    """The link that this browser used. Raises :class:`Ended`."""
    link = reconnect_links.of_visit(service.store, service.clock(), link_id, _secret(service, link_id))
    if link is None:
        raise Ended(USED)
    _speak(service, reconnect_links.owner(service.store, link))
    return link


def _list(service: Service, link: ReconnectLink, hidden: dict[str, str], action: str) -> Response:
    """The page with the accounts of ``link``; an error in the address is what became of the last try."""
    listed = [Listed(account, accounts.find_app(service, account)) for account in _accounts(service, link)]
    code = request.args.get("error", "")
    if not any(item.reconnects for item in listed):
        raise Ended(DONE)
    return page(
        service,
        "link/reconnect.html",
        listed=listed,
        hidden=hidden,
        action=action,
        last=endings.of_code(code) if code else None,
        email=reconnect_links.owner(service.store, link).email,
        **_branded(service, [item.account for item in listed]),
    )


def _branded(service: Service, listed: Sequence[Account]) -> dict[str, Any]:
    """The product in whose colour the page is drawn: that of the first account."""
    project = projects.get(service.store, listed[0].scene.project_id)
    return {"product": project.app_name, "brand": {"name": project.app_name, "hue": project.brand_hue}}


def _accounts(service: Service, link: ReconnectLink) -> list[Account]:
    return reconnect_links.accounts_of(service.store, link)


def _chosen(service: Service, link: ReconnectLink) -> Account:
    """The account of ``link`` that the form names. Raises :class:`Ended` for any other, and for one that works."""
    account = next((each for each in _accounts(service, link) if each.id == request.form.get("account")), None)
    if account is None:
        raise Ended(endings.NO_SUCH_ACCOUNT)
    if not account.dead:
        raise Ended(DONE)
    if accounts.find_app(service, account) is None:
        raise Ended(NO_APP)
    return account


def _reconnect(service: Service, link: ReconnectLink, account: Account) -> Response:
    """Redirect to the Connect Link for ``account``, which leads back to the list. No page has its token."""
    back = f"{service.settings.public_url}{PATH}/{link.id}"
    created = connect_tokens.create(
        service,
        account.scene,
        TokenRequest(
            external_user_id=account.external_id,
            expires_in=TOKEN_LIFETIME_S,
            scope=token_scopes.ACCOUNTS_WRITE,
            success_redirect_uri=back,
            error_redirect_uri=back,
            app=account.app,
        ),
        client_id=None,
    )
    token = connect_tokens.verify(service, created["token"])
    return pages.begin(service, token, {"accountId": account.id, "connectLink": "true"})


def _stop_page(service: Service, token: str) -> Response:
    """The page that asks whether to stop the mails, or says that they are stopped. Raises :class:`Ended`."""
    person = reconnect_mails.person_of_stop_token(service, token)
    if person is None:
        raise Ended(STOP_UNKNOWN)
    _speak(service, person)
    stopped = not preferences.of_user(service.store, person.id).reconnect_mails
    return page(service, "link/stop_mails.html", email=person.email, stopped=stopped, token=token)


def _speak(service: Service, person: User) -> None:
    """Show the page in the person's language."""
    chosen = preferences.of_user(service.store, person.id).language
    translation.choose(chosen, request.accept_languages, service.settings.language)


def _cookie(service: Service, link_id: str) -> str:
    return f"{service.settings.path_cookie}patchbay_reconnect_{link_id}"


def _secret(service: Service, link_id: str) -> str | None:
    return request.cookies.get(_cookie(service, link_id))


def _proof(service: Service, link: ReconnectLink) -> str:
    """The CSRF proof that the forms of a visit carry."""
    key = service.keys.derive("reconnect-forms")
    return hmac.new(key, f"{link.id}.{link.visit_hash}".encode(), hashlib.sha256).hexdigest()
