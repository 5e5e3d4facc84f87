"""Deploying triggers over the API, and the addresses and fields of what was deployed."""

from typing import Any

FIELDS = {
    "id", "owner_id", "component_id", "configurable_props", "configured_props", "active", "created_at", "updated_at",
    "name", "name_slug", "type", "component_key", "callback_observations", "emit_on_deploy",
}  # fmt: skip


def deploy(world: Any, token: str, component: str = "~/poll", user: str = "alice", **body: Any) -> Any:
    return world.post("P/triggers/deploy", token, json={"id": component, "external_user_id": user, **body})


def at(trigger: Any, rest: str = "", user: str = "alice") -> str:
    mark = "&" if "?" in rest else "?"
    return f"P/deployed-triggers/{trigger['id']}{rest}{mark}external_user_id={user}"
