"""Setting up an app: the form with which an owner adds the project's OAuth client, and requests of others for it.

The client is the project's own: it serves all of its users, and people read its name at the provider. The provider is
asked whether it knows the client before it is stored. An entered secret is never in a page again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from flask import Blueprint, abort, flash, g, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.menu import by_field
from webapp.dashboard.client.build.oauth_apps import OAuthApps, Verdict
from webapp.dashboard.client.models.accounts import App, AppInFamily, SetUp, Shape
from webapp.dashboard.dashboard import dashboard, service, viewer
from webapp.dashboard.gate import person
from webapp.dashboard.pages import go
from webapp.dashboard.shared.changes import APPS
from webapp.errors import Forbidden, Invalid, PatchbayError
from webapp.kit import translation
from webapp.kit.translation import gettext
from webapp.people import roles, setup_requests, users

blueprint = Blueprint("app_setup", __name__)
MAX_NAMED = 5  # people who asked
_FIELDS = ("client_id", "client_secret", "redirect_uri")


@dataclass(frozen=True, slots=True)
class SetUpForm:
    """The values of an owner, without the secret. ``apps`` are the provider's other apps that the client is for.

    ``errors`` are by field, "" for the whole form; ``doubted`` once the provider or the form of a value contradicts it.
    """

    client_id: str = ""
    apps: tuple[str, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    doubted: bool = False


@dataclass(frozen=True, slots=True)
class SetUpView:
    """The state of an app's set-up, for its viewer.

    ``by`` says who can do it, "" for an owner, who has the ``form``. ``wanted_by`` are some of the ``wanted`` people
    who asked.
    """

    form: SetUpForm
    by: str
    wanted: int
    wanted_by: tuple[str, ...]
    may_ask: bool
    has_asked: bool


def view(app: App, form: SetUpForm | None = None) -> SetUpView:
    """The same for ``app``, with the values so far.

    For an owner, the page is in English from here on, as a whole: the steps at a provider are in English only.
    """
    if not set_up_by():
        translation.speak(translation.DEFAULT)
    board, looking = dashboard(), viewer()
    wanting = setup_requests.of_app(board.store, looking.client.project_id, app.slug)
    return SetUpView(
        form=form or SetUpForm(apps=tuple(other.slug for other in _family(app) if not other.ready)),
        by=set_up_by(),
        wanted=len(wanting),
        wanted_by=tuple(email for _user_id, email in wanting[:MAX_NAMED]),
        may_ask=roles.may_ask_for_apps(looking.role),
        has_asked=any(user_id == looking.external_user_id for user_id, _email in wanting),
    )


@blueprint.get("/apps/<slug>/setup")
def page(slug: str) -> AnyResponse:
    """The form on a page of its own, also for an app that has a client."""
    return _page(_app(slug), None)


@blueprint.post("/apps/<slug>/setup")
def create(slug: str) -> AnyResponse:
    """Make the client, unless its provider does not know it, and let the other chosen apps use it."""
    app = _app(slug)
    form, problems = _read(app), _problems(app)
    if problems and "anyway" not in request.form:
        return _refused(app, form, problems)
    try:
        verdict = _add(app, form)
    except Invalid as error:
        return _refused(app, form, by_field(error, _FIELDS))
    except Forbidden:
        return _refused(app, form, {"": gettext("The service does not let this dashboard add OAuth clients.")})
    sentence = gettext("{app} is set up. {verdict}").format(app=app.name, verdict=verdict.sentence)
    flash(sentence.strip(), verdict.tone)
    return go(url_for("dashboard.apps.show", slug=app.slug))


@blueprint.post("/apps/<slug>/setup-requests")
def ask(slug: str) -> AnyResponse:
    """Notify the owners that the person would like to use this app."""
    app, looking = service().app(slug), viewer()
    if not roles.may_ask_for_apps(looking.role):
        abort(404)
    if not app.ready:
        board = dashboard()
        setup_requests.add(board.store, board.clock, looking.client.project_id, app.slug, person().id)
        flash(gettext("{who} will see that you asked for {app}.").format(who=set_up_by(), app=app.name), "ok")
    return go(url_for("dashboard.apps.show", slug=app.slug))


def set_up_by() -> str:
    """Who can set up an app, in words for a member; "" for an owner, who can."""
    if roles.may_set_up_apps(viewer().role):
        return ""
    if portal := g.get("portal"):
        return str(portal.facts.project_app_name) or gettext("An owner")  # never "", which stands for one
    owners = [owner.email for owner in users.of_role(dashboard().store, "owner", 3)]
    if not 0 < len(owners) < 3:
        return gettext("An owner")
    return gettext("{one} or {other}").format(one=owners[0], other=owners[1]) if len(owners) == 2 else owners[0]


def changed(*ready: str) -> None:
    """Update all pages after a change of clients, and delete requests for apps that have one now, by slug."""
    board = dashboard()
    board.changes.add(APPS)
    board.forget_apps()
    setup_requests.clear(board.store, viewer().client.project_id, ready)


def _add(app: App, form: SetUpForm) -> Verdict:
    """Create the client for ``app`` and those that share it; return the provider's verdict. Raises :class:`Invalid`."""
    clients = OAuthApps(viewer().client)
    client = clients.create(app.slug, form.client_id, _secret(), check="anyway" not in request.form)
    changed(app.slug)
    shared = form.apps
    try:
        clients.share(client.id, shared)
    except PatchbayError:  # the client stands, and a form that is sent again would make another
        flash(gettext("Not all of the other apps got this client. Set them up on their own pages."), "warn")
        shared = ()
    changed(*shared)
    return client.check


def _app(slug: str) -> App:
    """The app to set up. An app that needs no client, or a person who may not, gets a 404."""
    if not roles.may_set_up_apps(viewer().role):
        abort(404)
    app = service().app(slug)
    if not app.takes_clients or not (app.extras and app.extras.set_up):
        abort(404)
    return app


def _facts(app: App) -> SetUp:
    return (app.extras and app.extras.set_up) or SetUp()


def _family(app: App) -> tuple[AppInFamily, ...]:
    return _facts(app).family


def _secret() -> str:
    return request.form.get("client_secret", "").strip()


def _read(app: App) -> SetUpForm:
    offered = [other.slug for other in _family(app)]
    chosen = tuple(slug for slug in offered if slug in request.form.getlist("apps"))
    return SetUpForm(request.form.get("client_id", "").strip(), chosen)


def _problems(app: App) -> dict[str, str]:
    """Missing values, and values that do not look like the provider's."""
    facts = _facts(app)
    entered = {
        "client_id": (request.form.get("client_id", "").strip(), facts.id_shape, gettext("Paste the client ID.")),
        "client_secret": (_secret(), facts.secret_shape, gettext("Paste the client secret.")),
    }
    problems = {name: _problem(*texts) for name, texts in entered.items()}
    return {name: problem for name, problem in problems.items() if problem}


def _problem(value: str, shape: Shape | None, missing: str) -> str:
    if not value:
        return missing
    return shape.advice if shape and not shape.fits(value) else ""


def _refused(app: App, form: SetUpForm, problems: dict[str, str]) -> AnyResponse:
    """The form with its errors and without the secret, which must be pasted again."""
    doubted = bool(form.client_id and _secret())
    again = {"client_secret": gettext("Paste the secret again: a page never keeps it.")} if doubted else {}
    return _page(app, SetUpForm(form.client_id, form.apps, {**again, **problems}, doubted), 422)


def _page(app: App, form: SetUpForm | None, code: int = 200) -> AnyResponse:
    return make_response(render_template("dashboard/apps/setup.html", app=app, setup=view(app, form)), code)
