"""What the API answers about apps that are imported from OpenAPI documents."""

from pydantic import Field

from webapp.service.api.base.models import Answer, DateTime


class ImportedApp(Answer):
    """An app that was imported. `source` is the address or the name of its document."""

    name_slug: str = Field(examples=["acme_shop"])
    name: str = Field(examples=["Acme Shop"])
    version: str = Field(examples=["1.4.0"])
    source: str = Field(examples=["https://api.example.com/openapi.json"])
    imported_at: DateTime
    actions: int = Field(examples=[12])
    accounts: int = Field(examples=[3])


class ImportOperation(Answer):
    """An operation of a document. `action` is what it becomes; null where it becomes none, for `reason` if there is
    one. `notes` are parts of it that are left out."""

    operation: str = Field(examples=["GET /me"])
    title: str = Field(examples=["Get me"])
    tags: list[str] = Field(examples=[["Users"]])
    deprecated: bool
    action: str | None = Field(examples=["get-me"])
    notes: list[str] = Field(examples=[[]])
    reason: str | None = Field(examples=[None])


class ImportReport(Answer):
    """What an import did, or would do. The `…_choices` are what may be chosen; `hosts` are where credentials go.

    `by_hand` are files that somebody changed, which stay. `removed_runs` tells how often actions that are gone ran in
    the last 30 days.
    """

    name_slug: str = Field(examples=["acme_shop"])
    name: str = Field(examples=["Acme Shop"])
    version: str = Field(examples=["1.4.0"])
    preview: bool
    auth: str = Field(examples=["apiKey"])
    auth_choices: list[str] = Field(examples=[["apiKey", "oauth"]])
    server: str | None = Field(examples=["https://api.example.com/v1"])
    server_choices: list[str] = Field(examples=[["https://api.example.com/v1"]])
    test: str = Field(examples=["GET /me"])
    test_choices: list[str] = Field(examples=[["GET /me"]])
    hosts: list[str] = Field(examples=[["api.example.com"]])
    operations: list[ImportOperation]
    added: list[str] = Field(examples=[["get-me"]])
    changed: list[str] = Field(examples=[[]])
    same: list[str] = Field(examples=[[]])
    removed: list[str] = Field(examples=[[]])
    by_hand: list[str] = Field(examples=[[]])
    notes: list[str] = Field(examples=[[]])
    removed_runs: dict[str, int] = Field(examples=[{}])
