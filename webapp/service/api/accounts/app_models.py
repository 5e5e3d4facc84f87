"""Apps, their categories, and what a project has of its own for them."""

from typing import Annotated, Literal

from webapp.service.api.base.models import DateTime, Shape, one_of

AuthType = Literal["oauth", "keys", "none"]


class ScopeProfile(Shape):
    """A named choice of OAuth scopes."""

    name: str
    scopes: list[str]


class App(Shape):
    """An app of the catalog. `custom_fields_json` is a JSON array in a string."""

    id: str
    name_slug: str
    name: str
    img_src: str
    custom_fields_json: str
    categories: list[str]
    featured_weight: float
    description: str
    auth_type: AuthType
    scope_profiles: list[ScopeProfile]
    oauth_app_id: str | None


class ScopeWords(Shape):
    """What a scope allows, in words."""

    scope: str
    words: str


class Besides(Shape):
    """What is Patchbay's own about an app."""

    connectable: bool
    why_not: str | None
    scopes: list[ScopeWords]
    docs_url: str | None
    actions: int
    triggers: int


class Counts(Shape):
    """How many components an app has."""

    actions: int
    triggers: int


class ListedApp(App):
    """An app in a list; `patchbay` is there when `extensions` were asked for."""

    patchbay: Counts | None = None


class OneApp(App):
    """An app; `patchbay` is there when `extensions` were asked for."""

    patchbay: Besides | None = None


class Category(Shape):
    """A category of apps; `count` is there when `extensions` were asked for."""

    id: Annotated[str, one_of("appcat")]
    name: str
    description: str
    count: int = 0


class OAuthApp(App):
    """A project's own OAuth client: the app, with the client's fields over it. Its secret is never shown."""

    client_id: str
    scopes: list[str]
    additional_scopes: list[str]
    redirect_uri: str
    owner_id: str
    created_at: DateTime
    updated_at: DateTime


class AppOverride(Shape):
    """Named preset values for an app's fields."""

    id: str
    name: str
    app: App
    oauth_app_id: str | None
    cfmap: dict[str, str]
    owner_id: str
    created_at: DateTime
    updated_at: DateTime


class AppName(Shape):
    """An app by its two names."""

    id: str
    name_slug: str


class ProjectInfo(Shape):
    """The apps for which a project has an OAuth client of its own."""

    apps: list[AppName]
