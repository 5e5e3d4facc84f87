"""What the API takes and answers about integrations that come from npm packages."""

from typing import Literal

from pydantic import Field

from webapp.service.api.base.models import Answer, Body, DateTime, Flag, Query

HOSTS = "Hosts such as `api.example.com`; `*.example.com` stands for all hosts below it."


class PieceSearch(Query):
    """What is looked for."""

    q: str = Field(max_length=100, description="The name of an app, or of a package.")


class NewPiece(Body):
    """A package."""

    name: str = Field(
        max_length=214, description="`slack`, or the package's whole name, such as `@activepieces/piece-slack`."
    )
    version: str = Field("", max_length=100, description="The newest one, unless it is said.")


class PieceConfirmation(Body):
    """What an owner says to what was looked at."""

    hosts: list[str] = Field(max_length=1000, description=f"What it may reach, and nothing else. {HOSTS}")
    hidden: bool = Field(False, description="Whether lists leave it out.")
    version: str | None = Field(
        None, max_length=100, description="The one that was looked at; 409 where another one waits by now."
    )


class PieceChange(Body):
    """What is left out stays as it is."""

    hosts: list[str] | None = Field(None, max_length=1000, description=HOSTS)
    hidden: bool | None = Field(None, description="Whether lists leave it out.")


class PieceHost(Body):
    """A host."""

    host: str = Field(max_length=260, description="One that the integration was refused.")


class PieceRemoval(Query):
    """How it is removed."""

    with_uses: Flag = Field(
        False, description="Although it is used: accounts and triggers stay, and do nothing until it is added again."
    )


class PiecePart(Answer):
    """An action or a trigger."""

    name: str = Field(examples=["Create card"])
    key: str = Field(examples=["trello-create_card"])


class LeftOutPart(Answer):
    """A part that cannot work here."""

    name: str = Field(examples=["Wait for approval"])
    kind: str = Field(examples=["action"])
    reason: str = Field(examples=["It needs waitpoints, which Patchbay does not have."])


class RefusedHost(Answer):
    """A host that it asked for and may not reach."""

    host: str = Field(examples=["cdn.example.com"])
    at: DateTime


class ChangedPart(Answer):
    """A part that another version changes."""

    name: str = Field(examples=["Create card"])
    sentence: str = Field(examples=["No longer asks for Label."])


class PieceChanges(Answer):
    """What the version that waits changes. `hosts` are those that it wants to reach besides."""

    added: list[str] = Field(examples=[["Find card"]])
    gone: list[str] = Field(examples=[[]])
    changed: list[ChangedPart]
    hosts: list[str] = Field(examples=[[]])


class Piece(Answer):
    """An integration. `version` is the one in use, `wanted` one that is brought or waits for a yes; empty for none.

    Its parts, its size and its licence are those of the version in use, or else of the other.
    """

    id: str = Field(examples=["pc_8Kd3Ws"])
    package: str = Field(examples=["@activepieces/piece-trello"])
    app: str = Field(examples=["trello"])
    name: str = Field(examples=["Trello"])
    description: str = Field(examples=["Boards, lists and cards"])
    state: Literal["adding", "ready", "writing", "added", "failed"] = Field(
        description="`ready`: it was looked at, and waits to be confirmed. `writing`: it is added just now."
    )
    step: int = Field(examples=[0], description="1 found, 2 brought here, 3 tried, 4 added; 0 when nothing is done.")
    error: str = Field(examples=[""], description="Why it failed, or why it is not whole on a machine.")
    version: str = Field(examples=["0.4.2"])
    wanted: str = Field(examples=[""])
    newest: str = Field(examples=["0.5.0"], description="The newest in the registry, which is asked once a day.")
    newer: bool = Field(description="Whether that is later than the one in use.")
    published_at: DateTime | None = None
    size: int = Field(examples=[620000], description="In bytes.")
    licence: str = Field(examples=["MIT"])
    author: str = Field(examples=["Activepieces"])
    source: Literal["registry", "tarball", "offline", "folder"] = Field(description="Where that version came from.")
    origin: str = Field(examples=[""], description="The path of that file or folder on the server; empty for npm.")
    hidden: bool = Field(description="Whether lists leave it out.")
    actions: list[PiecePart]
    triggers: list[PiecePart]
    left_out: list[LeftOutPart]
    auth: str = Field(examples=["People connect with a key"], description="How people connect.")
    hosts: list[str] = Field(examples=[["api.trello.com"]], description="What it may reach.")
    proposed_hosts: list[str] = Field(examples=[["api.trello.com"]], description="What it wants to reach.")
    refused_hosts: list[RefusedHost]
    changes: PieceChanges | None = None
    accounts: int = Field(examples=[4])
    deployed: int = Field(examples=[2], description="How many of its triggers are deployed.")
    pinned_versions: list[str] = Field(examples=[[]], description="Others that deployed triggers stay on.")


class LicensedPiece(Piece):
    """The same with the text of its licence."""

    licence_text: str = Field(examples=["MIT License…"])


class Pieces(Answer):
    """All of them, and the version of Node that runs them; null where the machine has none."""

    data: list[Piece]
    node: str | None = Field(examples=["22.11.0"])


class PiecePackage(Answer):
    """A package in the registry. `here`: whether it was `added`, as `piece_id`, or Patchbay has such an app itself."""

    package: str = Field(examples=["@activepieces/piece-trello"])
    name: str = Field(examples=["Trello"])
    description: str = Field(examples=["Boards, lists and cards"])
    version: str = Field(examples=["0.4.2"])
    published_at: DateTime | None
    size: int | None = Field(examples=[620000], description="In bytes.")
    licence: str = Field(examples=["MIT"])
    author: str = Field(examples=["Activepieces"])
    here: Literal["", "added", "builtin"]
    app: str = Field(examples=[""])
    piece_id: str = Field(examples=[""])


class PiecePackages(Answer):
    """What a search found. `by_name`: the registry has no search, so that only exact names could be tried."""

    data: list[PiecePackage]
    by_name: bool
