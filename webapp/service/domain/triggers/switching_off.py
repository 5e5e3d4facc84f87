"""A deployed trigger that the system switches off, because it cannot go on: it keeps the reason and says so."""

from webapp.service.domain.accounts import notifications
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import history
from webapp.service.domain.projects.history import Subject
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Tx


def switch_off(tx: Tx, service: Service, trigger: DeployedTrigger, reason: str) -> bool:
    """Switch ``trigger`` off for ``reason`` (a sentence), and tell who should know; False when it was off already.

    The caller commits and then calls ``service.wake()``.
    """
    now = service.clock()
    changed = tx.run(
        "UPDATE deployed_triggers SET active = 0, switched_off = :reason, next_run_at = NULL, turn = turn + 1, "
        "updated_at = :now WHERE id = :id AND active = 1",
        {"reason": reason, "now": now, "id": trigger.id},
    )
    if changed:
        history.write(tx, subject(trigger), now, "trigger_switched_off", f"{trigger.name}: {reason}", good=False)
        notifications.trigger_deactivated(tx, service, trigger, reason)
    return bool(changed)


def subject(trigger: DeployedTrigger) -> Subject:
    """Whose history this trigger's is."""
    return Subject("", trigger.scene, trigger.external_user_id, trigger.app or "", trigger.id)
