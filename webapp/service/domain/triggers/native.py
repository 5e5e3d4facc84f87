"""Which kind of emitter a component is: four keys are native, everything else is a source that runs components."""

from dataclasses import dataclass

from webapp.service.domain.triggers.deployed_triggers import Emitter


@dataclass(frozen=True, slots=True)
class EmitterKind:
    """An emitter: the prefix of its triggers' ids, and what ``type`` says of them (WIRE "Ids")."""

    emitter: Emitter
    prefix: str
    type: str


SOURCE = EmitterKind("source", "dc", "DeployedComponent")
HTTP = EmitterKind("http", "hi", "HttpInterface")
TIMER = EmitterKind("timer", "ti", "TimerInterface")
EMAIL = EmitterKind("email", "ei", "EmailInterface")
NATIVE = {
    "http-new-requests": HTTP,
    "schedule-custom-interval": TIMER,
    "schedule-cron": TIMER,
    "email-new-email": EMAIL,
}
_BY_EMITTER = {one.emitter: one for one in (SOURCE, HTTP, TIMER, EMAIL)}


def kind(component_key: str) -> EmitterKind:
    """The kind of the component with that key."""
    return NATIVE.get(component_key, SOURCE)


def of_emitter(emitter: Emitter) -> EmitterKind:
    """The kind by its emitter."""
    return _BY_EMITTER[emitter]
