"""Sign-in at the OpenID provider of the settings, which replaces password and second step.

The state of a sign-in is kept in the form's signed cookie for ten minutes, so that only the browser that began it can
complete it, and once.
"""

from flask import Blueprint, abort, redirect, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.return_paths import safe_next
from webapp.dashboard.sign_in import devices
from webapp.dashboard.sign_in.outcome import DISABLED, refused, sign_in, too_many
from webapp.kit.clock import MINUTE
from webapp.kit.crypto import hash_token
from webapp.kit.translation import gettext
from webapp.people import challenges, sign_in_attempts, single_sign_on
from webapp.people.openid_provider import Attempt, NotSignedIn, OpenIdProvider
from webapp.people.single_sign_on import Rules
from webapp.people.users import User

blueprint = Blueprint("oidc", __name__)

WAITS = 10 * MINUTE
_KEPT = "oidc"


@blueprint.get("/sign-in/oidc")
def begin() -> AnyResponse:
    """Send the browser to the provider."""
    try:
        attempt, url = _provider().begin()
    except NotSignedIn as error:
        return _refused(error.message, 502)
    kept = [attempt.state, attempt.nonce, attempt.verifier]
    session[_KEPT] = [kept, dashboard().clock(), safe_next(request.args.get("next"))]
    return redirect(url, 303)


@blueprint.get("/sign-in/oidc/callback")
def finish() -> AnyResponse:
    """Take the provider's answer and sign in."""
    provider, (attempt, next_url) = _provider(), _begun()
    if attempt is None:
        return _refused(gettext("That took too long, or was begun in another tab. Try again."))
    source = devices.source(hash_token(attempt.state), "oidc")
    wait = sign_in_attempts.admit(dashboard().store, dashboard().clock, source)
    if wait:
        return _refused(too_many(wait), 429)
    try:
        person = _person(provider, attempt)
    except NotSignedIn as error:
        return _refused(error.message)
    sign_in_attempts.succeeded(dashboard().store, source)
    return sign_in(person, next_url) if person.enabled else _refused(str(DISABLED))


def offered(next_url: str = "") -> dict[str, str] | None:
    """The provider's name and the address that leads there; None without one."""
    oidc = dashboard().oidc
    return {"name": oidc.name, "url": url_for("dashboard.oidc.begin", next=next_url or None)} if oidc else None


def _provider() -> OpenIdProvider:
    """The provider; where there is none, these addresses are not there."""
    return dashboard().oidc or abort(404)


def _begun() -> tuple[Attempt | None, str]:
    """The sign-in that this browser began last, which is used up, and the page to return to."""
    kept, at, next_url = session.pop(_KEPT, None) or (None, 0, "")
    board = dashboard()
    if kept is None or not 0 <= board.clock() - at < WAITS:
        return None, ""
    with board.store.write() as tx:
        fresh = challenges.spend(tx, board.clock(), kept[0].encode(), WAITS)
    return Attempt(*kept) if fresh else None, safe_next(next_url)


def _person(provider: OpenIdProvider, attempt: Attempt) -> User:
    """Who signed in. Raises :class:`NotSignedIn`."""
    board = dashboard()
    rules = Rules(provider.name, board.settings.oidc_roles)
    claims = provider.finish(attempt, request.args)
    return single_sign_on.admit(board.store, board.clock, rules, claims)


def _refused(sentence: str, code: int = 403) -> AnyResponse:
    return refused(gettext("You are not signed in"), sentence, way_on=gettext("Back to sign in"), code=code)
