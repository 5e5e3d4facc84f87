"""A call that waits for a yes, as a person reads it: who wants to do what, by which account, with which values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from webapp.dashboard.client.models.agents import Approval
from webapp.dashboard.client.models.components import Component, Prop, plain
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.dashboard import agents, app_of, dashboard, known_component, viewer
from webapp.errors import PatchbayError
from webapp.kit.translation import gettext

MAX_SHOWN = 20_000
MAX_GIST = 120
_TURNING = {code: f"\\u{code:04x}" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


@dataclass(frozen=True, slots=True)
class Value:
    """A value by its label."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """One call, in words. ``destroys``: whether it may delete something."""

    approval: Approval
    action: str
    app: str
    account: str
    values: Sequence[Value]
    destroys: bool

    @property
    def gist(self) -> str:
        """The values in one short line."""
        line = " · ".join(f"{value.label}: {value.text}" for value in self.values)
        return line if len(line) <= MAX_GIST else line[:MAX_GIST].rstrip() + "…"


def read(approval: Approval, accounts: Overview | None) -> WaitingCall:
    """``approval`` in words, with the names that its app and action have for them."""
    component = _component(approval.component_key)
    props = {prop.name: prop for prop in component.props} if component else {}
    app = app_of(approval.app)
    return WaitingCall(
        approval,
        action=component.name if component else approval.component_key,
        app=app.name if app else approval.app,
        account=_accounts(approval, props, accounts),
        values=tuple(_values(approval, props)),
        destroys=component is None or component.effect == "destroys",
    )


def keep(approvals: Sequence[Approval]) -> list[Approval]:
    """Those of ``approvals`` that wait; how many they are is remembered for :func:`count`."""
    calls = [approval for approval in approvals if approval.state == "waiting"]
    dashboard().waiting.put(viewer().key, len(calls))
    return calls


def count(*, fresh: bool = False) -> int | None:
    """How many calls wait for the viewer; unless ``fresh``, None where that was not told of late."""
    return len(keep(agents().approvals())) if fresh else dashboard().waiting.get(viewer().key)


def _component(key: str) -> Component | None:
    try:
        return known_component("actions", key)
    except PatchbayError:
        return None


def _accounts(approval: Approval, props: Mapping[str, Prop], accounts: Overview | None) -> str:
    """The accounts that it works with, by their names."""
    values = [value for name, value in approval.values.items() if _is_account(props.get(name), value)]
    known = [accounts.find(str(value["authProvisionId"])) for value in values] if accounts else []
    return ", ".join(account.title for account in known if account)


def _is_account(prop: Prop | None, value: Any) -> bool:
    """Whether ``value`` chooses an account, and does not just look so."""
    return prop is not None and prop.type == "app" and isinstance(value, dict) and "authProvisionId" in value


def _values(approval: Approval, props: Mapping[str, Prop]) -> list[Value]:
    shown = []
    for name, value in approval.values.items():
        prop = props.get(name)
        label = prop.label if prop else name
        if name in approval.hidden:
            shown.append(Value(label, gettext("Hidden, as it is secret")))
        elif not _is_account(prop, value) and value not in (None, "", []):
            shown.append(Value(label, _text(value)))
    return shown


def _text(value: Any) -> str:
    """``value`` as it is: characters that turn text around are written out, and what is left out is counted."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() if isinstance(value, dict | list) else plain(value)
    shown = text[:MAX_SHOWN].translate(_TURNING)
    if len(text) <= MAX_SHOWN:
        return shown
    return gettext("{text}… and {count} more characters").format(text=shown, count=f"{len(text) - MAX_SHOWN:,}")
