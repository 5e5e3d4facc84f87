"""The providers that the pieces of the registry ask, each written from its public reference.

https://docs.slack.dev/reference/methods, https://developers.notion.com/reference, https://developers.intercom.com/docs,
https://developers.facebook.com/docs/marketing-api/guides/lead-ads
"""

from typing import Any

from tests.fakes.pieces.sign_in import SignIn
from tests.fakes.pieces.web import Answers, Asked, Said

CHANNELS = [{"id": "C1", "name": "general", "is_channel": True}, {"id": "C2", "name": "random", "is_channel": True}]
DATABASE: dict[str, Any] = {
    "object": "database", "id": "db-1",
    "title": [{"type": "text", "plain_text": "Tasks", "text": {"content": "Tasks"}}],
    "properties": {
        "Name": {"id": "title", "name": "Name", "type": "title", "title": {}},
        "Done": {"id": "done", "name": "Done", "type": "checkbox", "checkbox": {}},
        "Size": {"id": "size", "name": "Size", "type": "number", "number": {"format": "number"}},
    },
}  # fmt: skip


def slack(asked: Asked) -> Said:
    """Web API methods; a token is that of ``alice``."""
    if asked.headers.get("authorization") not in ("Bearer xoxb-alice", "Bearer xoxp-alice"):
        return Said({"ok": False, "error": "invalid_auth"})
    name = asked.path.removeprefix("/api/")
    if name == "auth.test":
        return Said(
            {"ok": True, "team_id": "T1", "user_id": "U-alice", "team": "Acme", "user": "alice", "bot_id": "B1"}
        )
    if name == "conversations.list":
        return Said({"ok": True, "channels": CHANNELS, "response_metadata": {"next_cursor": ""}})
    if name == "users.list":
        members = [{"id": "U-bob", "name": "bob", "real_name": "Bob", "deleted": False, "is_bot": False}]
        return Said({"ok": True, "members": members, "response_metadata": {"next_cursor": ""}})
    if name == "chat.postMessage":
        return Said(
            {"ok": True, "channel": asked.body["channel"], "ts": "1.2", "message": {"text": asked.body["text"]}}
        )
    return Said({"ok": False, "error": "unknown_method"})


class Notion:
    """Pages of one database; ``pages`` are those that it has, the newest first."""

    def __init__(self) -> None:
        self.pages: list[dict[str, Any]] = []
        self.sign_in: SignIn | None = None

    def add(self, number: int, created: str) -> None:
        """Let there be another page."""
        page = {"object": "page", "id": f"page-{number}", "created_time": created, "last_edited_time": created}
        self.pages.insert(0, {**page, "parent": {"type": "database_id", "database_id": "db-1"}, "properties": {}})

    def __call__(self, asked: Asked) -> Said:
        if self.sign_in is not None and asked.path.startswith("/v1/oauth/"):
            return self.sign_in.authorize(asked) if asked.method == "GET" else self.sign_in.token(asked)
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if token != "secret-alice" and not (self.sign_in and token in self.sign_in.live):
            return Said(_error("unauthorized", 401), 401)
        if asked.place == "GET /v1/users/me":
            return Said({"object": "user", "id": "u1", "type": "bot", "bot": {}, "name": "Acme"})
        if asked.place == "POST /v1/search":
            return Said(_page_of([DATABASE]))
        if asked.place == "GET /v1/databases/db-1":
            return Said(DATABASE)
        if asked.place == "POST /v1/databases/db-1/query":
            return Said(_page_of(self.pages))
        if asked.place == "POST /v1/pages":
            return Said({"object": "page", "id": "page-new", **asked.body})
        return Said(_error("object_not_found", 404), 404)


def _error(code: str, status: int) -> dict[str, Any]:
    return {"object": "error", "status": status, "code": code, "message": f"It is {code}."}


def _page_of(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {"object": "list", "results": results, "has_more": False, "next_cursor": None}


def intercom(asked: Asked) -> Said:
    """The admin whose token it is, and tags."""
    if asked.headers.get("authorization") != "Bearer dG9rOmFsaWNl":
        return Said(
            {"type": "error.list", "errors": [{"code": "unauthorized", "message": "Access Token Invalid"}]}, 401
        )
    if asked.place == "GET /me":
        return Said({"type": "admin", "id": "a1", "email": "a@b.example", "app": {"type": "app", "id_code": "ws1"}})
    if asked.place == "GET /conversations/7":
        return Said({"type": "conversation", "id": "7"})
    if asked.place == "GET /tags":
        return Said({"type": "list", "data": [{"type": "tag", "id": "t1", "name": "Customer"}]})
    return Said({"type": "error.list", "errors": [{"code": "not_found", "message": "Not found"}]}, 404)


def square(asked: Asked) -> Said:
    """The merchant whose token it is, and an order."""
    if asked.place == "GET /v2/merchants/me":
        return Said({"merchant": {"id": "M1", "business_name": "Acme"}})
    if asked.place == "GET /v2/orders/o1":
        return Said({"order": {"id": "o1"}})
    return Said({"errors": [{"category": "API_ERROR", "code": "NOT_FOUND"}]}, 404)


def facebook(asked: Asked) -> Said:
    """Pages of the person, and their leads."""
    path = asked.path.strip("/")
    if path == "me/accounts":
        return Said({"data": [{"id": "P1", "name": "Acme", "access_token": "page-token"}]})
    if path == "P1/subscribed_apps":
        return Said({"success": True})
    if path == "P1/leadgen_forms":
        return Said({"data": [{"id": "F1", "name": "Contact us"}]})
    if path == "L1":
        fields = [{"name": "email", "values": ["ada@acme.example"]}]
        return Said({"id": "L1", "created_time": "2026-01-01T00:00:00+0000", "form_id": "F1", "field_data": fields})
    return Said({"error": {"message": "Unknown path", "code": 2500}}, 400)


def hosts(notion: Notion) -> dict[str, Answers]:
    """Who answers under which name."""
    return {
        "slack.com": slack,
        "api.notion.com": notion,
        "api.intercom.io": intercom,
        "graph.facebook.com": facebook,
        "connect.squareup.com": square,
    }
