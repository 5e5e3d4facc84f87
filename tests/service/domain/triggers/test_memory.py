"""Which emitted events count, by each kind of dedupe; and what a trigger remembers, sealed and within bounds."""

from collections.abc import Sequence

import pytest

from tests.fakes.triggers import deploy, row
from webapp.service.catalog.components import Dedupe
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import memory
from webapp.service.domain.triggers.memory import StateTooLarge


@pytest.mark.parametrize(
    ("dedupe", "runs", "kept"),
    [
        (None, [["1", "1"], ["1", None]], [["1", "1"], ["1", None]]),
        ("unique", [["1", "2", "1"], ["2", "3", None, None]], [["1", "2"], ["3", None, None]]),
        ("greatest", [["9", "10", "10"], ["10", "12", "11"], ["2", "13"]], [["9", "10"], ["12", "11"], ["13"]]),
        ("greatest", [["2027-01-02"], ["2027-01-01", "2027-01-03", None]], [["2027-01-02"], ["2027-01-03", None]]),
        ("last", [["1", "1", "2"], ["2", "1"], ["1", None, "1"]], [["1", "2"], ["1"], [None]]),
    ],
)
def test_what_counts(
    service: Service,
    scene: Scene,
    dedupe: Dedupe | None,
    runs: Sequence[Sequence[str | None]],
    kept: Sequence[Sequence[str | None]],
) -> None:
    trigger = deploy(service, scene, "schedule-cron")
    for ids, wanted in zip(runs, kept, strict=True):
        with service.store.write() as tx:
            found = memory.new_events(tx, trigger, dedupe, [Emitted({}, one, None, 1) for one in ids], 1)
        assert [one.id for one in found] == wanted


def test_only_the_newest_ids_are_kept(service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SEEN_KEPT", 3)
    trigger = deploy(service, scene, "schedule-cron")
    with service.store.write() as tx:
        for number in range(6):
            memory.new_events(tx, trigger, "unique", [Emitted({}, str(number), None, 1)], number)
        memory.new_events(tx, trigger, "unique", [Emitted({}, "0", None, 1)], 10)  # still there: stays young
    assert memory.thin_out(service) == 3
    left = service.store.all("SELECT emitted_id FROM trigger_seen ORDER BY emitted_id")
    assert [one["emitted_id"] for one in left] == ["0", "4", "5"]
    assert memory.thin_out(service) == 0


def test_what_is_remembered_is_merged_sealed_and_bounded(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "schedule-cron")
    with service.store.write() as tx:
        memory.merge(tx, service, trigger, {"secret": "canary-secret", "n": 1})
        memory.merge(tx, service, trigger, {"n": 2})
    assert memory.read(service, trigger) == {"secret": "canary-secret", "n": 2}
    sealed = service.store.one("SELECT state_sealed FROM trigger_memory")
    assert sealed is not None and b"canary-secret" not in sealed["state_sealed"]
    with pytest.raises(StateTooLarge), service.store.write() as tx:
        memory.merge(tx, service, trigger, {"more": "x" * memory.MAX_STATE})
    assert memory.read(service, trigger)["n"] == 2
    assert row(service, trigger)["mark"] is None
