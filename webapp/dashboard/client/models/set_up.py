"""How an app's OAuth client is made at its provider, as the Connect API tells it (an extension)."""

import re

from pydantic import Field

from webapp.dashboard.client.models.lenient import Lenient, NonEmpty


class Shape(Lenient):
    """How a value looks, and what to say where it does not."""

    pattern: NonEmpty
    advice: str = ""

    def fits(self, value: str) -> bool:
        """Whether ``value`` looks so; a pattern that cannot be read fits everything."""
        try:
            return re.fullmatch(self.pattern, value) is not None
        except re.error:
            return True


class SetUpNote(Lenient):
    """Something good to know before a client is made."""

    text: NonEmpty
    url: str | None = Field(default=None, pattern="^https?://")


class AppInFamily(Lenient):
    """Another app that one client at the provider serves too."""

    slug: NonEmpty = Field(alias="name_slug")
    name: NonEmpty = Field(default_factory=lambda data: data["slug"])
    ready: bool = False


class SetUp(Lenient):
    """What whoever adds an app's OAuth client needs; ``provider`` is who gives it, "" where that is not told."""

    redirect_uri: str = ""
    console_url: str | None = Field(default=None, pattern="^https?://")
    steps: tuple[str, ...] = ()
    provider: str = ""
    console: str = ""
    id_name: str = ""
    secret_name: str = ""
    id_shape: Shape | None = None
    secret_shape: Shape | None = None
    notes: tuple[SetUpNote, ...] = ()
    family: tuple[AppInFamily, ...] = ()
    checkable: bool = False
    read_on: str = ""

    @property
    def parts(self) -> list[tuple[str, bool]]:
        """The steps, and whether the redirect URI is entered in each."""
        return [(step, bool(self.redirect_uri) and self.redirect_uri in step) for step in self.steps]
