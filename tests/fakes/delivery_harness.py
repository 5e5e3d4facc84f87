"""The delivery side of a service, turn by turn in the test's own thread, with a receiver that it may reach."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tests.fakes.deployed import emit, plant_trigger
from tests.fakes.receiver import Receiver
from webapp.kit.clock import FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import claims, endpoints, trigger_webhooks
from webapp.service.domain.deliveries.claims import Outcome, Task
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.deliveries.sender import Sender
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


@dataclass
class DeliveryHarness:
    """``turn`` does what one turn of the engine does: claim, send, write down."""

    service: Service
    clock: FakeClock
    scene: Scene
    receiver: Receiver
    room: Callable[[Endpoint, int], int] = field(default=lambda *_: 100)

    def allow(self, *netlocs: str) -> None:
        """Let deliveries reach these, too."""
        self.service = replace(self.service, outbound=self.service.outbound.allowing(*netlocs))

    def trigger(self, *urls: str, **more: Any) -> DeployedTrigger:
        return plant_trigger(self.service, self.scene, urls, **more)

    def emit(self, trigger: DeployedTrigger, *found: Any) -> None:
        emit(self.service, trigger, *(found or ({"n": 1},)))

    def claim(self) -> list[Task]:
        with self.service.store.write() as tx:
            return claims.claim(tx, self.service.clock(), self.room)

    def finish(self, attempts: list[Outcome]) -> int:
        with self.service.store.write() as tx:
            return claims.finish(tx, attempts, self.service.clock())

    def turn(self, deadline_s: float = 5.0) -> list[Outcome]:
        sender = Sender(self.service, partial(deployed_triggers.mask_of, self.service), deadline_s=deadline_s)
        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(sender.send, self.claim()))
        self.finish(outcomes)
        return outcomes

    def rows(self) -> list[dict[str, Any]]:
        """Every delivery, oldest first."""
        return self.service.store.all("SELECT * FROM deliveries ORDER BY id")

    def row(self) -> dict[str, Any]:
        """The only delivery."""
        (one,) = self.rows()
        return one

    def endpoint(self, trigger: DeployedTrigger) -> Endpoint:
        """The only webhook of ``trigger``."""
        (one,) = trigger_webhooks.of_trigger(self.service.store, trigger.id)
        return one

    def key(self, trigger: DeployedTrigger) -> str:
        return endpoints.key_of(self.service, self.endpoint(trigger))
