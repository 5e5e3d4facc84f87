"""How a trigger of a piece is set off here, by its strategy: a timer, an address of its own, or its app's events."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from webapp.service.components.pieces.form import Strategy
from webapp.service.pieces.metadata import Part

EVERY_S = 15 * 60
_ON_AND_OFF = ("activate", "deactivate")
_UNKNOWN = "It is set off in a way that is not known here."
_BY_HAND = "It is started by hand in a flow, and there are no flows here."
_WITHOUT_ACCOUNT = "Its events come to the address of an OAuth client, and it works without an account."
_UNHEARD = "Its events come to the address of an OAuth client, and nobody connects it by signing in with one."


@dataclass(frozen=True, slots=True)
class Emitter:
    """What sets a trigger off: its infrastructure props, the methods beside ``run``, and which events count.

    ``reason`` says why there is none of it; empty where there is.
    """

    strategy: Strategy = "POLLING"
    props: tuple[dict[str, Any], ...] = ()
    hooks: tuple[str, ...] = ()
    dedupe: Literal["unique"] | None = None
    handshake: dict[str, Any] | None = None
    renew: str | None = None
    reason: str = ""


def emitter(part: Part, account: str, names: Collection[str], *, hears: bool = True) -> Emitter:
    """What sets ``part`` off; ``account`` is its app prop and ``names`` are those of its props. ``hears``: some of the
    apps that it works with tell their OAuth clients events."""
    db = {"name": _free("db", names), "type": "$.service.db"}
    if part.strategy == "POLLING":
        timer = {
            "name": _free("timer", names),
            "type": "$.interface.timer",
            "default": {"intervalSeconds": EVERY_S},
        }
        return Emitter("POLLING", (timer, db), _ON_AND_OFF, "unique")
    if part.strategy == "WEBHOOK":
        return _told(part, _free("http", names), db)
    if part.strategy == "APP_WEBHOOK" and account and hears:
        events = {"name": _free("events", names), "type": "$.interface.apphook", "appProp": account}
        return Emitter("APP_WEBHOOK", (events, db), _ON_AND_OFF)
    reasons = {"MANUAL": _BY_HAND, "APP_WEBHOOK": _UNHEARD if account else _WITHOUT_ACCOUNT}
    return Emitter(reason=reasons.get(part.strategy, _UNKNOWN))


def _told(part: Part, name: str, db: dict[str, Any]) -> Emitter:
    """A trigger that is told at its own address: it may be asked first whether the address is ours, and end by
    itself."""
    handshake = part.handshake if part.handshake.get("strategy") not in (None, "NONE") else None
    cron = part.renewal.get("cronExpression") if part.renewal.get("strategy") == "CRON" else None
    renew = cron if isinstance(cron, str) and cron.strip() else None
    http = {"name": name, "type": "$.interface.http", **({"customResponse": True} if handshake else {})}
    hooks = (*_ON_AND_OFF, *(["renew"] if renew else []))
    return Emitter("WEBHOOK", (http, db), hooks, None, handshake, renew)


def _free(name: str, names: Collection[str]) -> str:
    while name in names:
        name = f"{name}_interface"
    return name
