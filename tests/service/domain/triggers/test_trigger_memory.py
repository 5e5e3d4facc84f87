"""What a trigger keeps for its author."""

import pytest

from tests.fakes.triggers import deploy
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import trigger_memory
from webapp.service.domain.triggers.trigger_memory import StateTooLarge


def test_it_is_merged_sealed_and_bounded(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "schedule-cron")
    with service.store.write() as tx:
        trigger_memory.update(tx, service, trigger, {"secret": "canary-secret", "n": 1})
        trigger_memory.update(tx, service, trigger, {"n": 2})
    assert trigger_memory.read(service, trigger) == {"secret": "canary-secret", "n": 2}
    sealed = service.store.one("SELECT state_sealed FROM trigger_memory")
    assert sealed is not None and b"canary-secret" not in sealed["state_sealed"]
    with pytest.raises(StateTooLarge), service.store.write() as tx:
        trigger_memory.update(tx, service, trigger, {"more": "x" * trigger_memory.MAX_STATE})
    assert trigger_memory.read(service, trigger)["n"] == 2
