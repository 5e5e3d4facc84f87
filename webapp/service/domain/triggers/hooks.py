"""The hooks of a trigger, one after another: what each remembered and said is kept at once, before the next begins.

So whoever has to undo an activation, even another process after a crash, finds what the activation left in ``ctx.db``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from webapp.errors import Conflict, Invalid, PatchbayError, Unavailable
from webapp.service.components.calls import Emitted, Reply
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import calls, deployed_triggers, memory, runs
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.memory import StateTooLarge

Hook = Literal["deploy", "activate", "deactivate"]


class HookFailed(Exception):
    """A hook said no."""

    def __init__(self, hook: Hook, reply: Reply) -> None:
        super().__init__(hook)
        self.hook, self.reply = hook, reply

    @property
    def sentence(self) -> str:
        """Why."""
        return self.reply.error.message if self.reply.error else "It failed and did not say why."

    @property
    def unusable(self) -> bool:
        """Whether its account could not be used, rather than the app having refused."""
        return self.reply.error is not None and self.reply.error.name == calls.UNUSABLE

    def as_answer(self) -> PatchbayError:
        """What a caller is told."""
        if self.reply.error is not None and self.reply.error.kind == "runner":
            return Unavailable(self.sentence)
        return Invalid(self.sentence)


def run(
    service: Service, trigger: DeployedTrigger, hooks: Sequence[Hook], configured: Mapping[str, Any]
) -> list[Emitted]:
    """Run those of ``hooks`` that the component has, with the values ``configured``; what they emitted.

    Raises :class:`HookFailed` at the first that fails.
    """
    component = calls.component_of(service, trigger)
    emitted = list[Emitted]()
    for hook in hooks:
        if trigger.emitter != "source" or (component is not None and hook not in component.hooks):
            continue
        began_at = service.clock()
        state = memory.read(service, trigger)
        reply = calls.call(service, trigger, hook, state=state, configured=configured)
        reply = _kept(service, trigger, hook, began_at, reply)
        if not reply.ok:
            raise HookFailed(hook, reply)
        emitted += reply.events
    return emitted


def try_run(service: Service, trigger: DeployedTrigger, hook: Hook, configured: Mapping[str, Any]) -> HookFailed | None:
    """Run one hook of which nothing depends any more; why it failed, if it did."""
    try:
        run(service, trigger, [hook], configured)
    except HookFailed as failure:
        return failure
    return None


def _kept(service: Service, trigger: DeployedTrigger, hook: Hook, began_at: int, reply: Reply) -> Reply:
    try:
        _keep(service, trigger, hook, began_at, reply, remember=True)
    except StateTooLarge as error:
        reply = calls.failed(service, str(error), reply.took_ms)
        _keep(service, trigger, hook, began_at, reply, remember=False)
    return reply


def _keep(
    service: Service, trigger: DeployedTrigger, hook: Hook, began_at: int, reply: Reply, *, remember: bool
) -> None:
    with service.store.write() as tx:
        if deployed_triggers.find(tx, trigger.id) is None:
            raise Conflict("This trigger was deleted meanwhile.")
        if remember:
            memory.merge(tx, service, trigger, reply.state)
        runs.write(tx, service, trigger, hook, began_at, reply, emitted=len(reply.events))
