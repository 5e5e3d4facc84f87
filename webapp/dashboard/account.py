"""The page of an account: its state, its permissions and what depends on it.

A person can test, rename, revoke or disconnect the account here. Connecting it again is left to :mod:`.connections`.
"""

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import words
from webapp.dashboard.apps import permissions, starters
from webapp.dashboard.build.apps.app_setup import set_up_by
from webapp.dashboard.client.models.accounts import Account, App, TestResult
from webapp.dashboard.dashboard import forget_accounts, service
from webapp.dashboard.pages import fragment, go, page, wants_fragment
from webapp.dashboard.shell import account_counts
from webapp.errors import Conflict, Invalid, PatchbayError, Refused
from webapp.kit.translation import gettext, translated

blueprint = Blueprint("account", __name__)

HISTORY = 10


@blueprint.get("/accounts/<account_id>")
def show(account_id: str) -> AnyResponse:
    """The page of an account."""
    account = service().account(account_id)
    code = request.args.get("error", "")
    trouble = words.ending(code, account.app.name, set_up_by(), account.identity or account.title) if code else None
    context = _context(account)
    return page("dashboard/account/show.html", "dashboard/account/_account.html", trouble=trouble, **context)


@blueprint.post("/accounts/<account_id>/test")
def test(account_id: str) -> AnyResponse:
    """Test the account at its provider."""
    account = service().account(account_id)
    result = service().test_account(account_id)
    sentence, tone = _verdict(account, result)
    if tone == "bad" and result is not None and service().account(account_id).error == result.error:
        sentence = gettext("The test failed.")  # the page says why
    return _after(account_id, sentence, tone, focus="test")


@blueprint.get("/accounts/<account_id>/name")
def name_page(account_id: str) -> AnyResponse:
    """The rename form as its own page."""
    account = service().account(account_id)
    return make_response(render_template("dashboard/account/name.html", account=account, name=account.name or ""))


@blueprint.post("/accounts/<account_id>/name")
def rename(account_id: str) -> AnyResponse:
    """Rename the account; an empty name removes its name."""
    account, name = service().account(account_id), request.form.get("name", "").strip()
    try:
        renamed = service().rename_account(account_id, name)
    except Invalid as error:
        return _name_refused(account, name, error.details[0].message if error.details else error.message)
    if renamed is None:
        return _after(account_id, gettext("This service cannot rename accounts."), "bad")
    sentence = gettext("The account is now called {name}.").format(name=renamed.title)
    return _after(account_id, sentence, "ok", focus="name")


@blueprint.get("/accounts/<account_id>/revocation")
def revocation_page(account_id: str) -> str:
    """Ask for confirmation before revoking."""
    account = service().account(account_id)
    return _question(
        account,
        heading=gettext("Revoke access at {app}?").format(app=account.app.name),
        text=gettext(
            "{app} is asked to withdraw the access. The account stays here, but stops working until you reconnect it."
        ).format(app=account.app.name),
        also=_siblings(account),
        button=gettext("Revoke access"),
        confirm_url=url_for("dashboard.account.revoke", account_id=account.id),
    )


@blueprint.post("/accounts/<account_id>/revocation")
def revoke(account_id: str) -> AnyResponse:
    """Revoke the access at the provider, if it supports that."""
    account = service().account(account_id)
    try:
        revoked = service().revoke_account(account_id)
    except (Conflict, Refused, Invalid) as error:
        return _after(account_id, error.message, "bad")
    if revoked is None:
        sentence = gettext("{app} offers no way to revoke access from here.")
        return _after(account_id, sentence.format(app=account.app.name), "bad")
    return _after(account_id, gettext("{app} withdrew the access.").format(app=account.app.name), "ok")


@blueprint.get("/accounts/<account_id>/disconnection")
def disconnection_page(account_id: str) -> str:
    """Ask for confirmation before disconnecting, and list what stops working."""
    account = service().account(account_id)
    text = gettext("Its credentials are deleted here. {app} itself keeps the access until it is revoked there.")
    if not account.by_sign_in:
        text = gettext("Its credentials are deleted here. The key itself stays valid at {app}.")
    text = text.format(app=account.app.name)
    if others := _siblings(account):
        text += " " + gettext("Revoking it there ends these, too: {accounts}.").format(accounts=", ".join(others))
    return _question(
        account,
        heading=gettext("Disconnect {account}?").format(account=account.title),
        text=text,
        button=gettext("Disconnect"),
        confirm_url=url_for("dashboard.account.disconnect", account_id=account.id),
    )


@blueprint.post("/accounts/<account_id>/disconnection")
def disconnect(account_id: str) -> AnyResponse:
    """Delete the account."""
    account = service().account(account_id)
    service().delete_account(account_id)
    forget_accounts()
    flash(gettext("{account} is disconnected.").format(account=account.title), "ok")
    return go(url_for("dashboard.accounts.index"))


def _name_refused(account: Account, name: str, error: str) -> AnyResponse:
    """The rename form with its error."""
    templates = "dashboard/account/name.html", "dashboard/account/_name_form.html"
    answer = page(*templates, account=account, name=name, error=error)
    answer.status_code = 422
    return answer


def _after(account_id: str, sentence: str, tone: str, focus: str = "") -> AnyResponse:
    """The updated account with ``sentence`` in the status region: a fragment, or a redirect to its page."""
    forget_accounts()
    if not wants_fragment():
        flash(sentence, tone)
        return go(url_for("dashboard.account.show", account_id=account_id))
    context = _context(service().account(account_id)) | {"counts": account_counts()}
    part = "dashboard/account/_changed.html"
    return make_response(fragment(part, sentence=sentence, tone=tone, focus=focus, **context))


def _context(account: Account) -> dict[str, Any]:
    user = service()
    app = _app(account)
    return {
        "account": account,
        "app": app,
        "uses": user.uses(account.id),
        "history": user.history(account.id, limit=HISTORY),
        "kinds": words.KINDS,
        "may": permissions(app, account.scopes),
        "starters": starters(app) if account.state == "working" else [],
    }


def _app(account: Account) -> App:
    """The app with the descriptions of its scopes, or what the account says of its app if that is unavailable."""
    try:
        return service().app(account.app.slug)
    except PatchbayError:
        return App.model_validate(account.app.model_dump(by_alias=True))


def _verdict(account: Account, result: TestResult | None) -> tuple[str, str]:
    if result is None:
        return gettext("This service cannot test accounts."), "bad"
    if result.healthy:
        sentence = gettext("{account} works: {app} accepted it just now.")
        return sentence.format(account=account.title, app=account.app.name), "ok"
    reason = translated(result.error or "") or gettext("{app} did not accept the account.").format(app=account.app.name)
    return gettext("The test failed. {reason}").format(reason=reason), "bad"


def _siblings(account: Account) -> list[str]:
    """The titles of other accounts that end when this one is revoked."""
    others = service().siblings(account.id) if account.by_sign_in else None
    return [f"{other.app.name} · {other.title}" for other in others.items] if others else []


def _question(
    account: Account, *, heading: str, text: str, button: str, confirm_url: str, also: Sequence[str] = ()
) -> str:
    """The page that asks for confirmation; ``also`` are other accounts that end, too."""
    uses = service().uses(account.id)
    return render_template(
        "shared/confirm.html",
        heading=heading,
        text=text,
        button=button,
        confirm_url=confirm_url,
        back_url=url_for("dashboard.account.show", account_id=account.id),
        stops=[*also, *(use.name for use in uses.items)] if uses else also,
    )
