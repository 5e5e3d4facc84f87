"""Which emitted events are new, by each kind of dedupe, and how many ids are kept."""

from collections.abc import Sequence

import pytest

from tests.fakes.triggers import deploy
from webapp.service.catalog.components import Dedupe
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import dedupe


@pytest.mark.parametrize(
    ("kind", "emitted_by", "kept"),
    [
        (None, [["1", "1"], ["1", None]], [["1", "1"], ["1", None]]),
        ("unique", [["1", "2", "1"], ["2", "3", None, None]], [["1", "2"], ["3", None, None]]),
        ("greatest", [["9", "10", "10"], ["10", "12", "11"], ["2", "13"]], [["9", "10"], ["12", "11"], ["13"]]),
        ("greatest", [["2027-01-02"], ["2027-01-01", "2027-01-03", None]], [["2027-01-02"], ["2027-01-03", None]]),
        ("last", [["1", "1", "2"], ["2", "1"], ["1", None, "1"]], [["1", "2"], ["1"], [None]]),
    ],
)
def test_which_events_are_new(
    service: Service,
    scene: Scene,
    kind: Dedupe | None,
    emitted_by: Sequence[Sequence[str | None]],
    kept: Sequence[Sequence[str | None]],
) -> None:
    trigger = deploy(service, scene, "schedule-cron")
    for ids, wanted in zip(emitted_by, kept, strict=True):
        with service.store.write() as tx:
            found = dedupe.new_events(tx, trigger, kind, [Emitted({}, one, None, 1) for one in ids], 1)
        assert [one.id for one in found] == wanted


def test_only_the_newest_ids_are_kept(service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedupe, "KEPT_PER_TRIGGER", 3)
    trigger = deploy(service, scene, "schedule-cron")
    with service.store.write() as tx:
        for number in range(6):
            dedupe.new_events(tx, trigger, "unique", [Emitted({}, str(number), None, 1)], number)
        dedupe.new_events(tx, trigger, "unique", [Emitted({}, "0", None, 1)], 10)  # still there: stays young
    assert dedupe.purge(service) == 3
    left = service.store.all("SELECT emitted_id FROM trigger_seen ORDER BY emitted_id")
    assert [one["emitted_id"] for one in left] == ["0", "4", "5"]
    assert dedupe.purge(service) == 0
