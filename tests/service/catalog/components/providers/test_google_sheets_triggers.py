"""Google Sheets' trigger, against a fake written from its reference: spreadsheets.values.get leaves empty ends out."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked
from tests.service.catalog.components.trigger_harness import TriggerHarness, logged
from webapp.service.catalog.apps.google_sheets import added as rows_added
from webapp.service.catalog.apps.google_sheets.added import added, hashes, packed, unpacked

HEAD = ["Name", "City", "", "City"]


class Sheet:
    """A worksheet; ``rows`` as the API gives them."""

    def __init__(self, *rows: list[Any]) -> None:
        self.rows = [HEAD, *rows]

    def answer(self, _: Asked) -> dict[str, Any]:
        return {"range": "Sheet1!A1:Z1000", "majorDimension": "ROWS"} | ({"values": self.rows} if self.rows else {})


@pytest.fixture
def sheets(desk_of: Callable[..., AppHarness]) -> AppHarness:
    return desk_of("google_sheets", oauth_access_token="ya29")


def watching(sheets: AppHarness, sheet: Sheet, name: str = "Sheet1") -> TriggerHarness:
    sheets.on(f"GET /v4/spreadsheets/s1/values/%27{name}%27", sheet.answer)
    return sheets.trigger("new-row", spreadsheet_id="s1", worksheet=name)


def names(harness: TriggerHarness) -> list[str]:
    return [one.event["values"]["Name"] for one in harness.tick()]


def test_rows_at_the_end_are_emitted_by_the_titles_of_their_columns(sheets: AppHarness) -> None:
    sheet = Sheet(*([str(number)] for number in range(7)))
    harness = watching(sheets, sheet)
    assert [one.event["values"]["Name"] for one in harness.deploy()] == ["2", "3", "4", "5", "6"]
    assert harness.tick() == []
    sheet.rows += [["Ada", "London", "x", "Paris", "extra"], ["Bob"]]
    first, second = harness.tick()
    values = {"Name": "Ada", "B": "London", "C": "x", "D": "Paris", "E": "extra"}
    assert (first.event, first.summary) == ({"row": 9, "values": values}, "Row 9")
    assert second.event == {"row": 10, "values": {"Name": "Bob", "B": "", "C": "", "D": ""}}
    assert harness.tick() == []


def test_deleted_edited_and_moved_rows_are_no_new_ones(sheets: AppHarness) -> None:
    sheet = Sheet(["a"], ["b"], ["c"], ["d"], ["e"])
    harness = watching(sheets, sheet)
    harness.deploy()
    del sheet.rows[2]  # b
    assert names(harness) == []
    del sheet.rows[1]  # a, while two are added: fewer or as many rows than before
    sheet.rows += [["f"], ["g"]]
    assert names(harness) == ["f", "g"]
    sheet.rows[1][0] = "C"
    assert names(harness) == []
    sheet.rows[1:] = sorted(sheet.rows[1:], reverse=True)
    assert names(harness) == []
    sheet.rows.insert(3, ["between"])
    assert names(harness) == ["between"]
    sheet.rows += [["g"]]  # the same as one that is there
    assert names(harness) == ["g"]
    sheet.rows += [[], ["", " "]]
    assert names(harness) == []
    sheet.rows[1:] = []
    assert names(harness) == []
    sheet.rows += [["anew"]]
    assert names(harness) == ["anew"]


def test_an_empty_worksheet(sheets: AppHarness) -> None:
    sheet = Sheet()
    sheet.rows = []
    harness = watching(sheets, sheet)
    assert harness.deploy() == []
    sheet.rows = [HEAD, ["first"]]
    assert names(harness) == ["first"]


def test_another_worksheet_begins_anew_without_a_flood(sheets: AppHarness) -> None:
    harness = watching(sheets, Sheet(["a"]))
    harness.deploy()
    other = Sheet(["x"], ["y"])
    watching(sheets, other, "Other")
    harness.props["worksheet"] = "Other"
    reply = harness.call("run")
    assert (reply.events, "Another worksheet was chosen." in logged(reply)) == ((), True)
    other.rows.append(["z"])
    assert names(harness) == ["z"]


def test_spreadsheets_and_worksheets_are_offered_as_in_the_actions(sheets: AppHarness) -> None:
    props = {one["name"]: one for one in watching(sheets, Sheet()).call("declare").value["configurable_props"]}
    assert props["spreadsheet_id"]["remoteOptions"] and props["spreadsheet_id"]["useQuery"]
    assert props["worksheet"]["remoteOptions"]


def test_a_long_worksheet_is_known_by_its_last_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_added, "MOST", 4)
    whole = hashes([[str(number)] for number in range(10)])
    before = unpacked(packed(whole))
    assert before == whole[-4:]
    more = [*whole, *hashes([["new"], ["er"]])]
    assert [more[-4:][at] for at in added(before, more[-4:])] == more[-2:]
    fewer = [*whole[:7], *whole[8:]]  # the window moves up over rows that were there all along
    assert added(before, fewer[-4:]) == []


def test_what_is_remembered_fits() -> None:
    hashed = hashes([[number, "x" * 100] for number in range(40_000)])
    assert len(set(hashed)) == 40_000
    assert len(packed(hashed)) == 180_000  # of 256 KiB
    assert added(unpacked(packed(hashed)), hashed[-30_000:]) == []
