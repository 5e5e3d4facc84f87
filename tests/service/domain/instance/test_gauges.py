"""The few numbers that an operator watches."""

import os
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tests.fakes.triggers import deploy
from webapp.kit import heartbeat
from webapp.service.domain.accounts import account_state
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import gauges
from webapp.service.domain.projects.projects import Scene


def test_accounts_and_triggers_by_their_state(service: Service, scene: Scene, plant: Callable[..., Account]) -> None:
    plant()
    account_state.mark_dead(service, plant(), "Revoked.")
    account_state.mark_retrying(service, plant(), "Down.")
    deploy(service, scene, "~/echo")
    values = {gauge.name: gauge.values for gauge in gauges.read(service)}
    assert values["accounts"] == {"healthy": 1, "dead": 1, "retrying": 1}
    assert values["triggers"] == {"active": 1, "paused": 0, "switched_off": 0}
    assert values["deliveries_late_seconds"] == {"": 0.0}


@pytest.mark.embedded
def test_how_much_room_there_is(service: Service) -> None:
    values = {gauge.name: gauge.values[""] for gauge in gauges.read(service) if not gauge.label}
    database = service.settings.data / "patchbay.db"
    assert values["database_bytes"] == database.stat().st_size > 0
    assert values["database_log_bytes"] == database.with_name("patchbay.db-wal").stat().st_size
    assert values["disk_free_bytes"] > 0 and values["months_missing"] == 0


@pytest.mark.embedded
def test_how_long_ago_the_worker_was_seen(service: Service) -> None:
    def seconds() -> float:
        return next(gauge.values[""] for gauge in gauges.read(service) if gauge.name == "worker_seen_seconds")

    sign = service.settings.data / heartbeat.WORKER
    sign.unlink(missing_ok=True)
    assert seconds() > 1e9  # never: any rule that waits for a worker fires
    elsewhere = SimpleNamespace(store=SimpleNamespace(folder=None))
    assert gauges._worker_seen(elsewhere, None) == {}  # type: ignore[arg-type]
    heartbeat.beat(sign)
    assert seconds() < 5
    os.utime(sign, (sign.stat().st_mtime - 300,) * 2)
    assert 299 < seconds() < 310
