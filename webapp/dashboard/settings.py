"""The Settings page of a person: theme, time zone, language, mails, password, API key and signed-in browsers.

``webapp.people`` stores all of it; nothing here affects other people.
"""

import functools
from collections.abc import Mapping
from dataclasses import replace

from flask import Blueprint, Response, abort, flash, make_response, redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import cookies
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.gate import chosen, person, session_now
from webapp.dashboard.pages import go
from webapp.dashboard.return_paths import page_before
from webapp.dashboard.sign_in import passkey
from webapp.errors import Invalid
from webapp.kit import translation
from webapp.kit.translation import LANGUAGES, choose, gettext
from webapp.kit.translation import lazy as _
from webapp.people import (
    api_keys,
    identities,
    passkeys,
    passwords,
    preferences,
    sessions,
    sign_in_attempts,
    totp,
    users,
)
from webapp.people.sign_in_attempts import Source
from webapp.people.users import User

blueprint = Blueprint("settings", __name__)

# Parts of the world, by the beginning of a time zone's name in lower case.
AREAS: Mapping[str, str] = {
    "africa": _("Africa"),
    "america": _("America"),
    "antarctica": _("Antarctica"),
    "arctic": _("Arctic Ocean"),
    "asia": _("Asia"),
    "atlantic": _("Atlantic Ocean"),
    "australia": _("Australia"),
    "europe": _("Europe"),
    "indian": _("Indian Ocean"),
    "pacific": _("Pacific Ocean"),
}
_THEMES: Mapping[str, str] = {"auto": _("Same as system"), "light": _("Light"), "dark": _("Dark")}


@blueprint.get("/you")
def formerly() -> AnyResponse:
    """Redirect the page's previous address."""
    return redirect(url_for("dashboard.settings.page"), 301)


@blueprint.get("/settings")
def page() -> AnyResponse:
    """The page."""
    return show()


@blueprint.post("/settings")
def save() -> AnyResponse:
    """Keep how pages shall look and read."""
    form = request.form
    preferred = replace(
        chosen(), theme=form.get("theme", ""), time_zone=form.get("time_zone", ""), language=form.get("language", "")
    )
    try:
        preferences.save(dashboard().store, dashboard().clock, person().id, preferred)
    except Invalid as error:
        return show({detail.field: detail.message for detail in error.details}, 422)
    choose(preferred.language, request.accept_languages, dashboard().settings.language)
    flash(gettext("Your settings are saved."), "ok")
    return _with_theme(go(url_for("dashboard.settings.page")), preferred.theme)


@blueprint.post("/settings/theme")
def theme() -> AnyResponse:
    """Store only the theme, chosen in the navigation of any page, and stay on that page."""
    preferred = replace(chosen(), theme=request.form.get("theme", ""))
    try:
        preferences.save(dashboard().store, dashboard().clock, person().id, preferred)
    except Invalid:
        abort(400)
    return _with_theme(go(page_before()), preferred.theme)


@blueprint.post("/settings/mails")
def mails() -> AnyResponse:
    """Choose whether to be mailed when an account needs the person."""
    preferred = replace(chosen(), reconnect_mails="reconnect_mails" in request.form)
    preferences.save(dashboard().store, dashboard().clock, person().id, preferred)
    flash(gettext("Your settings are saved."), "ok")
    return go(url_for("dashboard.settings.page"))


@blueprint.post("/settings/password")
def password() -> AnyResponse:
    """Change the password, and sign every other browser out."""
    board, me, problem = dashboard(), person(), wrong_password()
    if problem:
        return show({"current": problem}, 422)
    try:
        chosen_hash = passwords.prepared(request.form.get("password", ""))
    except Invalid as error:
        return show({detail.field: detail.message for detail in error.details}, 422)
    with board.store.write() as tx:
        users.set_password(tx, board.clock(), me.id, chosen_hash)
        sessions.end_all(tx, me.id, keep=session_now().id)
    flash(gettext("The password is changed. Other browsers are signed out."), "ok")
    return go(url_for("dashboard.settings.page"))


@blueprint.post("/settings/api-key")
def api_key() -> AnyResponse:
    """Give the person an API key, in place of any before it, and show it this once."""
    board = dashboard()
    return show(api_key=api_keys.create(board.store, board.clock, person().id))


@blueprint.post("/settings/sessions/<session_id>/end")
def end_session(session_id: str) -> AnyResponse:
    """Sign one other browser out."""
    if not sessions.end(dashboard().store, user_id=person().id, session_id=session_id):
        abort(404)
    flash(gettext("That browser is signed out."), "ok")
    return go(url_for("dashboard.settings.page"))


@blueprint.post("/settings/sessions/end-others")
def end_others() -> AnyResponse:
    """Sign every other browser out."""
    with dashboard().store.write() as tx:
        count = sessions.end_all(tx, person().id, keep=session_now().id)
    sentence = gettext("All other browsers are signed out.") if count else gettext("No other browser was signed in.")
    flash(sentence, "ok")
    return go(url_for("dashboard.settings.page"))


def wrong_password() -> str:
    """The error of the repeated password; "" if it is right."""
    board, me, source = dashboard(), person(), Source(person().email, None, session_now().id)
    if sign_in_attempts.admit(board.store, board.clock, source):
        return gettext("Too many tries. Wait a minute, then try again.")
    if not users.has_password(board.store, me.id, request.form.get("current", "")):
        return gettext("That is not your password now. Try again.")
    sign_in_attempts.succeeded(board.store, source)
    return ""


def show(errors: Mapping[str, str] | None = None, code: int = 200, *, api_key: str | None = None) -> Response:
    """The page, with the errors of a submitted form."""
    board = dashboard()
    page = render_template(
        "dashboard/settings/page.html",
        sessions=sessions.of_user(board.store, board.clock, person().id),
        current=session_now().id,
        api_key=api_key,
        api_key_given_at=api_keys.created_at(board.store, person().id),
        passkeys=passkeys.of_user(board.store, person().id),
        passkeys_offered=passkey.relying_party() is not None,
        this_browser=browser(request.headers.get("User-Agent", "")),
        signs_in_by=_provider_of(person()),
        has_password=users.has_any_password(board.store, person().id) and not board.settings.oidc_required,
        two_step=totp.is_on(board.store, person().id),
        codes_left=totp.recovery_codes_left(board.store, person().id),
        errors=errors or {},
        email=person().email,
        sends_mail=board.settings.sends_mail,
        browser=browser,
        chosen=chosen(),
        themes=_THEMES,
        languages=LANGUAGES,
        zone_options=_zone_options(chosen().time_zone, translation.language()),
    )
    return make_response(page, code)


def _provider_of(user: User) -> str:
    """The name of the provider at which this person also signs in; "" for none."""
    board = dashboard()
    bound = board.oidc and identities.of_user(board.store, board.oidc.issuer, user.id)
    return board.oidc.name if board.oidc and bound else ""


@functools.lru_cache(maxsize=64)  # hundreds of options, which change only with the choice and the language
def _zone_options(chosen: str, language: str) -> Markup:
    """The options of the zones in ``language``, which is the current one, by part of the world."""
    options: dict[str, list[Markup]] = {}
    for name in preferences.time_zones()[2:]:
        area, _, place = name.partition("/")
        words = translation.city(name) or place.replace("_", " ").replace("/", ", ")
        mark = Markup(" selected") if name == chosen else ""
        options.setdefault(area, []).append(Markup('<option value="{}"{}>{}</option>').format(name, mark, words))
    groups = [
        Markup('<optgroup label="{}">{}</optgroup>').format(AREAS.get(area.lower(), area), Markup("").join(entries))
        for area, entries in options.items()
    ]
    return Markup("").join(groups)


def _with_theme(answer: AnyResponse, theme: str) -> Response:
    response = make_response(answer)
    cookies.write_theme(response, theme)
    return response


def browser(user_agent: str) -> str:
    """A short name for a browser, such as ``Firefox on Linux``; good enough to recognise one's own."""
    names = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari"))
    systems = (
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac", "macOS"),
        ("Linux", "Linux"),
    )  # fmt: skip
    name = next((words for mark, words in names if mark in user_agent), gettext("A browser"))
    system = next((words for mark, words in systems if mark in user_agent), "")
    return gettext("{browser} on {system}").format(browser=name, system=system) if system else name
