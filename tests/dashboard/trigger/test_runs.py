"""The log of a trigger's runs: those that looked and found nothing are one line."""

from typing import Any

from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL
from webapp.dashboard.client.models.triggers import TriggerRun
from webapp.dashboard.trigger.runs import Quiet, folded


def runs(pattern: str) -> list[TriggerRun]:
    """A run a letter: ``.`` found nothing, ``e`` something, ``x`` failed, ``r`` was set off by a request."""
    return [
        TriggerRun(id=f"tr_{number}", cause="request" if kind == "r" else "timer", ok=kind != "x", emitted=kind == "e")
        for number, kind in enumerate(pattern)
    ]


def test_those_in_a_row_that_found_nothing_fold() -> None:
    lines = folded(runs("..e....x...r.."))
    assert [len(line.runs) if isinstance(line, Quiet) else line.id for line in lines] == [
        "tr_0", "tr_1", "tr_2", 4, "tr_7", 3, "tr_11", "tr_12", "tr_13",
    ]  # fmt: skip
    assert folded([]) == []


def test_the_page_says_how_often_it_looked(stage: Any, deployed: Watchtower) -> None:
    deployed.logs[ID] = [
        {"id": f"r{number}", "at": stage.clock() - number * 60_000, "cause": "timer", "ok": True, "took_ms": 9,
         "emitted": 1 if number == 5 else 0, "error": None, "os": []}
        for number in range(7)
    ]  # fmt: skip
    page = stage.signed_in().get(f"{URL}/logs").text
    assert "Checked 5 times, nothing new" in page
    assert page.count('<li id="r-r') == 7
