"""What the API answers about apps, their categories, and a project's own OAuth clients and overrides for them."""

from typing import Literal

from pydantic import Field

from webapp.service.api.base.models import Answer, DateTime, PieceOrigin, identifier

AuthType = Literal["oauth", "keys", "none"]


class ScopeProfile(Answer):
    """A named choice of OAuth scopes."""

    name: str = Field(examples=["read_only"])
    scopes: list[str] = Field(examples=[["repo"]])


class App(Answer):
    """An app of the catalog. `custom_fields_json` is a JSON array in a string."""

    id: str = Field(examples=["app_1K7bQx9dTz"])
    name_slug: str = Field(examples=["github"])
    name: str = Field(examples=["GitHub"])
    img_src: str = Field(examples=["https://connect.example.com/v1/…/github.svg"])
    custom_fields_json: str = Field(examples=["[]"])
    categories: list[str] = Field(examples=[["Developer tools"]])
    featured_weight: float = Field(examples=[90])
    description: str = Field(examples=[""])
    auth_type: AuthType
    scope_profiles: list[ScopeProfile]
    oauth_app_id: str | None = Field(examples=["oa_7Mc2Wb"])


class ScopeDescription(Answer):
    """What a scope allows, in words."""

    scope: str = Field(examples=["*"])
    words: str


class Shape(Answer):
    """How a value looks: a regular expression for the whole of it, and what to say of one that does not fit."""

    pattern: str
    advice: str


class SetUpNote(Answer):
    """Something good to know, with where to read on."""

    text: str
    url: str | None = None


class AppInFamily(Answer):
    """Another app of the same provider."""

    name_slug: str = Field(examples=["google_drive"])
    name: str = Field(examples=["Google Drive"])
    ready: bool


class SetUp(Answer):
    """What whoever adds the OAuth client needs: where it is made, how, and the redirect URI to register there.

    In `steps` and `notes`, `**…**` stands around words of the provider's own pages.
    """

    redirect_uri: str = Field(examples=["https://connect.example.com/connect/oauth/callback/github"])
    console_url: str | None = Field(examples=["https://github.com/settings/developers"])
    steps: list[str]
    provider: str = Field(examples=["GitHub"])
    console: str = Field(description="What the page at `console_url` is called, or empty.")
    id_name: str = Field(description="What the provider calls the client ID, or empty.")
    secret_name: str = Field(description="What it calls the client secret, or empty.")
    id_shape: Shape | None
    secret_shape: Shape | None
    notes: list[SetUpNote]
    family: list[AppInFamily] = Field(description="Those that the same client serves, too.")
    checkable: bool = Field(description="Whether the provider tells, before anybody signs in, if it knows a client.")
    read_on: str | None = Field(description="The day on which this was read in the provider's documentation.")


class AppExtensions(Answer):
    """What is Patchbay's own about an app. `set_up` is there for apps with OAuth."""

    ready: bool = Field(description="Whether it can be used here: it needs no OAuth client, or there is one.")
    connectable: bool
    why_not: str | None
    scopes: list[ScopeDescription]
    docs_url: str | None
    set_up: SetUp | None
    actions: int
    triggers: int
    ways: list[AppInFamily] = Field(description="The apps that are other ways to connect the same.")
    pieces: list[PieceOrigin] = Field(description="The npm packages from which it, or parts of it, were added.")


class ListedExtensions(Answer):
    """Whether an app can be used here, and how many components it has."""

    ready: bool
    actions: int
    triggers: int
    added: bool = Field(description="Whether it was added here, such as from npm; the others come with Patchbay.")


class ListedApp(App):
    """An app in a list; `patchbay` is there when `extensions` were asked for."""

    patchbay: ListedExtensions | None = None


class AppDetails(App):
    """An app; `patchbay` is there when `extensions` were asked for."""

    patchbay: AppExtensions | None = None


class Category(Answer):
    """A category of apps; `count` is there when `extensions` were asked for."""

    id: str = identifier("appcat_3Vn8Pq")
    name: str = Field(examples=["Developer tools"])
    description: str = Field(examples=[""])
    count: int = 0


class OAuthApp(App):
    """A project's own OAuth client: the app, with the client's fields over it. Its secret is never shown."""

    id: str = Field(examples=["oa_7Mc2Wb"])
    client_id: str = Field(examples=["Iv1.0123456789abcdef"])
    scopes: list[str] = Field(examples=[["repo"]])
    additional_scopes: list[str]
    redirect_uri: str = Field(examples=["https://connect.example.com/connect/oauth/callback/github"])
    owner_id: str = Field(examples=["proj_8Fw3ZsKd"])
    created_at: DateTime
    updated_at: DateTime


class ClientEvents(Answer):
    """Where the provider tells the events of an OAuth client, and what it calls the address and the secret."""

    uri: str = Field(examples=["https://connect.example.com/h/app/slack/oa_7Mc2Wb"])
    address_name: str = Field(examples=["Request URL"])
    secret_name: str = Field(examples=["Signing Secret"])
    has_secret: bool = Field(description="Whether the secret was entered, without which nothing is taken in.")
    brings_secret: bool = Field(description="Whether the provider makes the secret, and sends it to the address.")
    secret_sent_at: DateTime | None = Field(description="When it sent the one that waits to be taken.")


class EventsSecret(Answer):
    """The secret that signs a client's events from now on, to be entered at the provider. It is never shown again."""

    events_secret: str = Field(examples=["secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl"])


class ClientUse(Answer):
    """What is Patchbay's own about an OAuth client: its app's name, and what it serves."""

    app_name: str = Field(examples=["GitHub"])
    accounts: int = Field(description="Accounts that were connected with it, in all environments.")
    shared_with: list[str] = Field(description="Other apps that use the same client, by slug.")
    used_for_new: bool = Field(description="Whether new accounts of its app are connected with it.")
    installation_has_one: bool = Field(description="Whether the installation has a client for its app besides.")
    events: ClientEvents | None = None


class ExtendedOAuthApp(OAuthApp):
    """An OAuth client; `patchbay` is there when `extensions` were asked for."""

    patchbay: ClientUse | None = None


class ClientVerdict(Answer):
    """What the provider says about a client, in a word and in a sentence."""

    verdict: Literal["known", "unknown", "redirect_uri", "unchecked"]
    sentence: str = Field(examples=["GitHub knows this client."])


class CheckedOAuthApp(OAuthApp):
    """An OAuth client; `check` is there when that was asked for."""

    check: ClientVerdict | None = None


class AppOverride(Answer):
    """Named preset values for an app's fields."""

    id: str = Field(examples=["aov_9Xe5Lp"])
    name: str = Field(examples=["Our own GitLab"])
    app: App
    oauth_app_id: str | None = Field(examples=["oa_7Mc2Wb"])
    cfmap: dict[str, str]
    owner_id: str = Field(examples=["proj_8Fw3ZsKd"])
    created_at: DateTime
    updated_at: DateTime
