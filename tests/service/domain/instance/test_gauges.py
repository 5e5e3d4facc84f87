"""The few numbers that an operator watches."""

from collections.abc import Callable

from tests.fakes.triggers import deploy
from webapp.service.domain.accounts import lifecycle
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import gauges
from webapp.service.domain.projects.projects import Scene


def test_accounts_and_triggers_by_their_state(service: Service, scene: Scene, plant: Callable[..., Account]) -> None:
    plant()
    lifecycle.mark_dead(service, plant(), "Revoked.")
    lifecycle.mark_retrying(service, plant(), "Down.")
    deploy(service, scene, "~/echo")
    values = {gauge.name: gauge.values for gauge in gauges.read(service)}
    assert values["accounts"] == {"healthy": 1, "dead": 1, "retrying": 1}
    assert values["triggers"] == {"active": 1}
    assert values["deliveries_late_seconds"] == {"": 0.0}


def test_how_much_room_there_is(service: Service) -> None:
    values = {gauge.name: gauge.values[""] for gauge in gauges.read(service) if not gauge.label}
    database = service.settings.data / "patchbay.db"
    assert values["database_bytes"] == database.stat().st_size > 0
    assert values["database_log_bytes"] == database.with_name("patchbay.db-wal").stat().st_size
    assert values["disk_free_bytes"] > 0
