"""The provider of the fixture piece: an API of tables with rows, and of hooks. Nobody else has it."""

from typing import Any

from tests.fakes.pieces.sign_in import SignIn
from tests.fakes.pieces.web import Answers, Asked, Said

HOST = "api.workbench.example"
TEAMS = {"alice": "acme", "bob": "acme", "eve": "evil"}
COLUMNS = [
    {"id": "title", "name": "Title", "kind": "text", "required": True},
    {"id": "amount", "name": "Amount", "kind": "number"},
    {"id": "urgent", "name": "Urgent", "kind": "tick"},
    {"id": "shade", "name": "Shade", "kind": "colour"},
    {"id": "tags", "name": "Tags", "kind": "list"},
    {"id": "owner", "name": "Owner", "kind": "person"},
]
PEOPLE = [{"id": "p1", "name": "Ada"}, {"id": "p2", "name": "Grace"}]


class Workbench:
    """``rows`` are those of the one table, the newest first; ``hooks`` are addresses by their id. With a ``sign_in``
    its tokens alone work, at the tenant ``acme``."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.hooks: dict[str, str] = {}
        self.renewed: list[str] = []
        self.sign_in: SignIn | None = None

    @property
    def hosts(self) -> dict[str, Answers]:
        """Under which name it answers."""
        return {HOST: self, "acme.workbench.example": self._tenant, "auth.workbench.example": _token}

    def __call__(self, asked: Asked) -> Said:
        if asked.place == "GET /public.txt":
            return Said(b"for everybody", headers={"content-type": "text/plain"})
        person = self._person(asked)
        if person not in TEAMS:
            return Said({"error": "who are you"}, 401)
        parts = asked.path.strip("/").split("/")
        if asked.place == "GET /me":
            return Said({"name": person, "team": TEAMS[person], "region": asked.headers.get("x-region")})
        if parts[0] == "tables":
            return self._table(asked, parts)
        if parts[0] == "hooks":
            return self._hook(asked, parts)
        if parts[0] == "fails":
            return Said({"error": "as you wish"}, int(parts[1]))
        return Said({"error": "nothing here"}, 404)

    def _tenant(self, asked: Asked) -> Said:
        """Where people sign in."""
        if self.sign_in is None:
            return _token(asked)
        return self.sign_in.authorize(asked) if asked.place == "GET /authorize" else self.sign_in.token(asked)

    def _person(self, asked: Asked) -> str:
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if self.sign_in is not None and token.startswith("token-"):
            return self.sign_in.person if token in self.sign_in.live else ""
        return _person(asked)

    def _table(self, asked: Asked, parts: list[str]) -> Said:
        if len(parts) == 1:
            tables = [{"id": f"t{number}", "name": name} for number, name in enumerate(("Tasks", "People"))]
            return Said([table for table in tables if asked.query.get("q", "").lower() in table["name"].lower()])
        if parts[2] == "columns":
            return Said(COLUMNS)
        if parts[2] == "people":
            return Said([each for each in PEOPLE if asked.query.get("q", "").lower() in each["name"].lower()])
        if parts[2] == "views":
            return Said([{"id": "v1", "name": "All"}, {"id": "v2", "name": "Open"}])
        if asked.method == "POST":
            return Said({"id": 7, "table": parts[1], "cells": asked.body})
        return Said(self.rows)

    def _hook(self, asked: Asked, parts: list[str]) -> Said:
        if asked.method == "POST":
            hook = f"h{len(self.hooks) + 1}"
            self.hooks[hook] = asked.body["url"]
            return Said({"id": hook})
        if asked.method == "PATCH":
            self.renewed.append(parts[1])
            return Said({"id": parts[1]})
        return Said({"gone": self.hooks.pop(parts[1], None)})


def _token(asked: Asked) -> Said:
    """A token for who is named by the code, or for the client itself."""
    if asked.body.get("client_secret", "s3") != "s3":
        return Said({"error": "invalid_client"}, 401)
    name = asked.body.get("code", asked.body.get("client_id", "")).removeprefix("code-")
    return Said({"access_token": f"token-{name}", "token_type": "Bearer", "scope": "rows:read rows:write"})


def _person(asked: Asked) -> str:
    """Whose credential it is: each is a person's name, or the key or token that says it."""
    headers = asked.headers
    if authorization := headers.get("authorization"):
        return {"Basic YWxpY2U6c2VjcmV0": "alice"}.get(authorization, authorization.removeprefix("Bearer token-"))
    return headers.get("x-api-key", headers.get("x-token", "")).removeprefix("key-").removeprefix("token-")
