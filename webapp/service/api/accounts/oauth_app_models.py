"""Models of what is asked of a project's own OAuth clients; :mod:`app_models` has the answers."""

from typing import Annotated

from pydantic import Field

from webapp.service.api.base.models import AppName, Body, Extensions, Paged, Query, SearchWords

Short = Annotated[str, Field(min_length=1, max_length=200)]
Secret = Annotated[str, Field(min_length=1, max_length=4_000)]
Scopes = Annotated[list[Annotated[str, Field(pattern=r"^[\x21\x23-\x5B\x5D-\x7E]{1,300}$")]], Field(max_length=200)]


class OAuthAppList(Paged):
    """Which clients; ``app`` is a slug or an id."""

    app: AppName = None
    q: SearchWords = None
    extensions: Extensions = False


class OAuthAppOptions(Query):
    """Whether to add Patchbay's own fields."""

    extensions: Extensions = False


class OAuthAppChange(Body):
    """What of a client is to change; what is left out stays. A secret given takes the place of the one before."""

    name: Short | None = Field(None, description="What it is called.")
    description: Annotated[str, Field(max_length=2_000)] | None = Field(None, description="What it is for.")
    client_id: Short | None = Field(None, description="The client's id, as the provider gave it.")
    client_secret: Secret | None = Field(None, description="A new secret, which takes the place of the one before.")
    events_secret: Secret | None = Field(
        None, description="Extension: the secret that signs the events which the provider tells to `events.uri`."
    )
    scopes: Scopes | None = Field(None, description="Scopes to ask for instead of the app's own.")
    additional_scopes: Scopes | None = Field(None, description="Scopes to ask for besides.")
    check: bool = Field(
        False, description="Extension: ask the provider first, and change nothing if it does not know the client."
    )


class NewOAuthApp(OAuthAppChange):
    """A client as the provider registered it; ``app`` is a slug or an id."""

    app: str = Field(description="The app's slug or id.")
    client_id: Short = Field(description="The client's id, as the provider gave it.")
    client_secret: Secret = Field(description="The client's secret. It is never shown again.")
