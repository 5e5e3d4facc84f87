"""The form of an app's custom fields: keys that connect it, or values that its OAuth sign-in needs.

It also asks for the person's own OAuth client, if the link requests one (``customOauthClient=true``) and the app
allows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response, request

from webapp.errors import Detail, NotFound
from webapp.kit import translation
from webapp.kit.translation import gettext, translated
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import CustomField
from webapp.service.domain.accounts import attempts, credentials, oauth_apps, redirect_uris
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import AttemptRequest
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.service import Service
from webapp.service.link.access_choices import addition_of, chosen_client
from webapp.service.link.responses import page
from webapp.service.link.visit import Visit

PREFIX = "cf_"
CLIENT_ID, CLIENT_SECRET = "oauth_client_id", "oauth_client_secret"  # names of fields


@dataclass(frozen=True, slots=True)
class FormField:
    """One field as the form draws it."""

    field: CustomField
    value: str
    error: str

    @property
    def name(self) -> str:
        """The name of its input, which no parameter of the link shares."""
        return PREFIX + self.field.name

    @property
    def kind(self) -> str:
        """How it is entered: ``secret``, ``select`` or ``text``."""
        if self.field.options:
            return "select"
        return "secret" if self.field.secret else "text"

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Value and label of each option; without a default, the first is an empty one."""
        unset = [] if self.field.default else [("", gettext("Choose…"))]
        return [*unset, *((option.value, option.label) for option in self.field.options)]


def show(
    service: Service,
    current: Visit,
    app: App,
    account: Account | None,
    *,
    texts: Mapping[str, str] | None = None,
    details: tuple[Detail, ...] = (),
    problem: str | None = None,
    secret: str | None = None,
    status: int = 200,
) -> Response:
    """The form of ``app``, new or with the ``texts`` entered and their problems.

    A new one is filled with the values of the reconnected account that are not secret. Where it asks for the person's
    own OAuth client, the page is in English as a whole: the steps at a provider are in English only.
    """
    own_client = asks_for_client(current, app)
    if own_client:
        translation.speak(translation.DEFAULT)
    if secret is None:
        _, secret = attempts.create(service, current.token, attempt_request(service, current, app, account))
    return page(
        service,
        "link/keys.html",
        status=status,
        app=app,
        account=account,
        secret=secret,
        fields=_form_fields(current, app, _open_values(service, app, account) if texts is None else texts, details),
        own_client=own_client,
        redirect_uri=redirect_uris.of_new_client(service, app.slug),
        problem=translated(problem or ""),
        wrong=len(details),
        can_choose="picked" in current.parameters,
        other_way=other_way(service, current, app),
    )


def chosen_way(service: Service, current: Visit, app: App, account: Account | None) -> App:
    """``app`` as this page connects it, if there are two ways: by the one that was chosen, or that ``account`` was
    connected by; else by signing in if there is an OAuth client for it.

    Raises :class:`NotFound` for an unknown OAuth client.
    """
    if not app.signs_in:
        return app
    wanted = current.parameters.get("authType")
    if wanted is None and account is not None and current.oauth_app_id is None:
        wanted = "oauth" if account.oauth_app_id else "keys"
    if wanted in ("keys", "oauth"):
        return app if wanted == "keys" else app.by_sign_in
    return app.by_sign_in if _may_sign_in(service, current, app) else app


def other_way(service: Service, current: Visit, app: App) -> str:
    """The ``authType`` of the other way to connect ``app`` than that of this page; empty if there is none."""
    whole = service.app(app.slug)
    if not whole.signs_in:
        return ""
    if app.auth_type == "oauth":
        return "keys"
    return "oauth" if _may_sign_in(service, current, whole) else ""


def _may_sign_in(service: Service, current: Visit, app: App) -> bool:
    """Whether the person can sign in to ``app``, which needs an OAuth client."""
    return asks_for_client(current, app.by_sign_in) or chosen_client(service, current, app) is not None


def attempt_request(
    service: Service,
    current: Visit,
    app: App,
    account: Account | None,
    fields: Mapping[str, str] | None = None,
    *,
    own_id: str | None = None,
) -> AttemptRequest:
    """The attempt that this visit requests; ``own_id`` is the person's own OAuth client."""
    addition = addition_of(service, current, app, account)
    return AttemptRequest(
        app=app.slug,
        oauth_app_id=own_id or _client_id(service, current, app, account),
        account_id=account.id if account else None,
        session_id=current.session.id if current.session else None,
        of_portal=current.of_portal,
        scopes=addition.scopes if addition else (),
        fields=fields or {},
    )


def _client_id(service: Service, current: Visit, app: App, account: Account | None) -> str | None:
    """The id of the OAuth client to use: the link's, else the account's if it exists, else None for the default."""
    if app.auth_type != "oauth" or current.oauth_app_id or account is None or account.oauth_app_id is None:
        return current.oauth_app_id if app.auth_type == "oauth" else None
    try:
        oauth_apps.choose(
            service.store, current.project.id, app.slug, account.oauth_app_id, user_id=current.token.user.id
        )
    except NotFound:
        return None
    return account.oauth_app_id


def posted_fields(current: Visit) -> dict[str, str]:
    """The custom fields that this request posted, and those that an app override presets over them."""
    posted = {name[len(PREFIX) :]: value for name, value in request.form.items() if name.startswith(PREFIX)}
    return {**posted, **current.preset}


def _open_values(service: Service, app: App, account: Account | None) -> dict[str, str]:
    """The values of the reconnected ``account`` that are not secret, such as the address of its server."""
    if account is None:
        return {}
    values = credentials.read(service, account)
    return {field.name: values[field.name] for field in app.spec.fields if not field.secret and field.name in values}


def _form_fields(current: Visit, app: App, texts: Mapping[str, str], details: tuple[Detail, ...]) -> list[FormField]:
    """The fields of the form: those that are neither preset nor read from another field."""
    wrong = {detail.field: detail.message for detail in details}
    return [
        FormField(
            field,
            "" if field.secret else texts.get(field.name, field.default or ""),
            translated(wrong.get(field.name, "")),
        )
        for field in client_fields(current, app)
        if field.name not in current.preset and not field.read_from
    ]


def asks_for_client(current: Visit, app: App) -> bool:
    """Whether the person must enter an OAuth client for ``app``."""
    named = current.parameters.get("customOauthClient", "").lower() in ("true", "1")
    return named and app.oauth is not None and app.oauth.own_clients


def client_fields(current: Visit, app: App) -> tuple[CustomField, ...]:
    """All fields of the form: those of the person's client, if needed, then the app's."""
    if not asks_for_client(current, app) or app.oauth is None:
        return app.spec.fields
    return (
        CustomField(name=CLIENT_ID, label=gettext("Client ID")),
        CustomField(
            name=CLIENT_SECRET,
            label=gettext("Client secret"),
            secret=True,
            optional=app.oauth.token_auth_method == "none",  # noqa: S105
        ),
        *app.spec.fields,
    )


def own_client(service: Service, current: Visit, app: App, values: dict[str, str]) -> OAuthApp | None:
    """The client for the connection: a new one from ``values``, which are removed from them, or the link's."""
    client_id, client_secret = values.pop(CLIENT_ID, None), values.pop(CLIENT_SECRET, None)
    user = current.token.user
    if not asks_for_client(current, app) or client_id is None:
        return oauth_apps.choose(service.store, current.project.id, app.slug, current.oauth_app_id, user_id=user.id)
    return oauth_apps.add(
        service,
        app=app.slug,
        client_id=client_id,
        client_secret=client_secret,
        project_id=current.project.id,
        external_user_id=user.id,
    )
