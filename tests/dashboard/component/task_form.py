"""What a browser sends of the form of ``tasks-create-task``."""

import json
from typing import Any

URL = "/apps/tasks/actions/tasks-create-task"


def picked(label: str, value: Any) -> str:
    return json.dumps({"label": label, "value": value}, separators=(",", ":"))


def filled(**more: Any) -> dict[str, Any]:
    return {
        "d": ["tasks", "project_id", "title", "urgent", "labels"],
        "p.tasks": "apn_000000x",
        "p.project_id": picked("Project 7", "p7"),
        "p.title": "Buy milk",
        "p.urgent": ["false", "true"],
        "p.labels": "home\r\nshop",
    } | more
