"""Drafts of components, one for each viewer and component, and which runs were sent. This module owns
``viewer_drafts`` and ``viewer_runs_sent``.

A viewer is a user (``u_…``) or an external user in a portal (``exu_…``); their drafts are deleted with them. A draft
contains form fields as they were typed. Callers leave out secrets (:func:`.form_data.keepable`).
"""

import json
from dataclasses import dataclass, field
from typing import Any

from webapp.dashboard.component.prop_values import FormData
from webapp.kit.clock import DAY, Clock
from webapp.store.contract import Store

MAX_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class DynamicProps:
    """The props from a reload: their id, their JSON, and a digest of the values that they depend on."""

    id: str = ""
    props: tuple[dict[str, Any], ...] = ()
    made_from: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """The values of a form; ``saved_at`` is in epoch milliseconds, 0 for an empty draft."""

    fields: FormData = field(default_factory=dict)
    dynamic: DynamicProps = DynamicProps()
    saved_at: int = 0


def load(store: Store, viewer: str, component: str) -> Draft:
    """The draft, or an empty one."""
    row = store.one(
        "SELECT fields, dynamic_id, dynamic_props, made_from, updated_at FROM viewer_drafts"
        " WHERE viewer = :viewer AND component = :component",
        {"viewer": viewer, "component": component},
    )
    if row is None:
        return Draft()
    dynamic = DynamicProps(row["dynamic_id"], tuple(json.loads(row["dynamic_props"])), row["made_from"])
    return Draft(json.loads(row["fields"]), dynamic, row["updated_at"])


def save(store: Store, clock: Clock, viewer: str, component: str, fields: FormData, dynamic: DynamicProps) -> bool:
    """Store the draft. Returns False, and stores nothing, if it is larger than :data:`MAX_BYTES`."""
    row = {
        "viewer": viewer, "component": component, "fields": json.dumps(fields), "id": dynamic.id,
        "props": json.dumps(dynamic.props), "made_from": dynamic.made_from, "now": clock(),
        "user": viewer if viewer.startswith("u_") else None,
        "external_user": viewer if viewer.startswith("exu_") else None,
    }  # fmt: skip
    if len(str(row["fields"])) + len(str(row["props"])) > MAX_BYTES:
        return False
    with store.write() as tx:
        tx.run(
            "INSERT INTO viewer_drafts"
            " (viewer, user_id, external_user_id, component, fields, dynamic_id, dynamic_props, made_from, updated_at)"
            " VALUES (:viewer, :user, :external_user, :component, :fields, :id, :props, :made_from, :now)"
            " ON CONFLICT (viewer, component) DO UPDATE SET fields = excluded.fields,"
            " dynamic_id = excluded.dynamic_id, dynamic_props = excluded.dynamic_props,"
            " made_from = excluded.made_from, updated_at = excluded.updated_at",
            row,
        )
    return True


def drop(store: Store, viewer: str, component: str) -> None:
    """Delete the draft."""
    with store.write() as tx:
        tx.run(
            "DELETE FROM viewer_drafts WHERE viewer = :viewer AND component = :component",
            {"viewer": viewer, "component": component},
        )


def claim_run(store: Store, clock: Clock, viewer: str, once: str) -> bool:
    """Whether ``once``, a token of the page, is used for the first time. It is stored for a day."""
    with store.write() as tx:
        tx.run("DELETE FROM viewer_runs_sent WHERE at < :old", {"old": clock() - DAY})
        return bool(
            tx.run(
                "INSERT INTO viewer_runs_sent (viewer, once, at) VALUES (:viewer, :once, :now)"
                " ON CONFLICT (viewer, once) DO NOTHING",
                {"viewer": viewer, "once": once, "now": clock()},
            )
        )
