"""Drafts of components, one for each person and component, and which runs were sent. This module owns
``component_drafts`` and ``component_runs_sent``.

A draft holds form fields as they were typed, never a secret: callers leave those out (:func:`.form_data.keepable`).
"""

import json
from dataclasses import dataclass, field
from typing import Any

from webapp.dashboard.component.form_data import FormData
from webapp.kit.clock import DAY, Clock
from webapp.store.contract import Store

MAX_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class DynamicProps:
    """Props that came from a reload: their id, the wire list, and a digest of the answers that they follow from."""

    id: str = ""
    props: tuple[dict[str, Any], ...] = ()
    made_from: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a person had filled in; ``saved_at`` is in epoch milliseconds, 0 for nothing yet."""

    fields: FormData = field(default_factory=dict)
    dynamic: DynamicProps = DynamicProps()
    saved_at: int = 0


def load(store: Store, user_id: str, component: str) -> Draft:
    """The draft, or an empty one."""
    row = store.one(
        "SELECT fields, dynamic_id, dynamic_props, made_from, updated_at FROM component_drafts"
        " WHERE user_id = :user AND component = :component",
        {"user": user_id, "component": component},
    )
    if row is None:
        return Draft()
    dynamic = DynamicProps(row["dynamic_id"], tuple(json.loads(row["dynamic_props"])), row["made_from"])
    return Draft(json.loads(row["fields"]), dynamic, row["updated_at"])


def save(store: Store, clock: Clock, user_id: str, component: str, fields: FormData, dynamic: DynamicProps) -> bool:
    """Keep the draft. False, and nothing kept, when it is larger than :data:`MAX_BYTES`."""
    row = {
        "user": user_id, "component": component, "fields": json.dumps(fields), "id": dynamic.id,
        "props": json.dumps(dynamic.props), "made_from": dynamic.made_from, "now": clock(),
    }  # fmt: skip
    if len(str(row["fields"])) + len(str(row["props"])) > MAX_BYTES:
        return False
    with store.write() as tx:
        tx.run(
            "INSERT INTO component_drafts"
            " (user_id, component, fields, dynamic_id, dynamic_props, made_from, updated_at)"
            " VALUES (:user, :component, :fields, :id, :props, :made_from, :now)"
            " ON CONFLICT (user_id, component) DO UPDATE SET fields = excluded.fields,"
            " dynamic_id = excluded.dynamic_id, dynamic_props = excluded.dynamic_props,"
            " made_from = excluded.made_from, updated_at = excluded.updated_at",
            row,
        )
    return True


def drop(store: Store, user_id: str, component: str) -> None:
    """Start again with nothing filled in."""
    with store.write() as tx:
        tx.run(
            "DELETE FROM component_drafts WHERE user_id = :user AND component = :component",
            {"user": user_id, "component": component},
        )


def claim_run(store: Store, clock: Clock, user_id: str, once: str) -> bool:
    """Whether ``once``, a word made with the page, is used for the first time. A day later it is forgotten."""
    with store.write() as tx:
        tx.run("DELETE FROM component_runs_sent WHERE at < :old", {"old": clock() - DAY})
        return bool(
            tx.run(
                "INSERT INTO component_runs_sent (user_id, once, at) VALUES (:user, :once, :now)"
                " ON CONFLICT (user_id, once) DO NOTHING",
                {"user": user_id, "once": once, "now": clock()},
            )
        )
