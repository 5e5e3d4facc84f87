"""Sentences find the actions that do what they say: by what people call things, by the app, and curated ones first."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlite_utils import Database

from webapp.service.catalog import tool_search
from webapp.service.catalog.tool_search import ToolSearch, stem, stems

APPS: Any = {
    slug: SimpleNamespace(slug=slug, name=name, featured_weight=weight)
    for slug, name, weight in (
        ("calendar_plus", "Calendar Plus", 900),
        ("mail_box", "Mailbox", 500),
        ("trackhub", "TrackHub", 400),
        ("other_track", "OtherTrack", 100),
        ("linear", "Linear", 10),
    )
}


def action(app: str, name: str, about: str = "", props: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    key = f"{app}-{name.lower().replace(' ', '-')}"
    listed = json.dumps([{"name": prop, "label": prop, "type": "string"} for prop in props])
    facts = {"key": key, "app": app, "name": name, "description": about, "configurable_props": listed, "root": None}
    return {**facts, **more}


ACTIONS = [
    action(
        "calendar_plus", "List events", "Lists what happens. [See the documentation](https://plus.example/event/zebra)"
    ),
    action("calendar_plus", "Create event", props=("Title", "Attendees")),
    action("calendar_plus", "Delete event"),
    action("mail_box", "Send email"),
    action("mail_box", "Find email"),
    action("trackhub", "Create issue", props=("Title", "Labels")),
    action("trackhub", "List issues"),
    action("trackhub", "Close issue"),
    action("trackhub", "List issue milestones", key="trackhub-api-list-milestones", root="apps", tag="api"),
    action("trackhub", "Create issue", key="trackhub-api-create-an-issue", root="apps", tag="api"),
    action("other_track", "Create issue"),
    action("linear", "Create comment"),
    action("linear", "Get current issue state"),
]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tools") / "catalog.db"
    database = Database(path)
    tool_search.create_tables(database)
    tool_search.write(database, ACTIONS, APPS)
    database.close()
    return path


def searching(catalog: Path, **options: Any) -> ToolSearch:
    connection = sqlite3.connect(catalog)
    connection.row_factory = sqlite3.Row

    def read(sql: str, params: Mapping[str, Any]) -> list[Any]:
        return connection.execute(sql, params).fetchall()

    return ToolSearch(read, **options)


@pytest.mark.parametrize(
    ("sentence", "first"),
    [
        ("what is on my calendar tomorrow", "calendar_plus-list-events"),
        ("book a meeting with Anna", "calendar_plus-create-event"),
        ("Cancel the appointment!", "calendar_plus-delete-event"),
        ("write Bob an email", "mail_box-send-email"),
        ("look for the mail from my landlord", "mail_box-find-email"),
        ("report a bug in TrackHub", "trackhub-create-issue"),
        ("which issues does trackhub have", "trackhub-list-issues"),
        ("create an issue in OtherTrack", "other_track-create-issue"),
        ("comment in Linear", "linear-create-comment"),
        ("milestones", "trackhub-api-list-milestones"),
        ("MILÉSTONES", "trackhub-api-list-milestones"),
    ],
)
def test_a_sentence_finds_what_does_it(catalog: Path, sentence: str, first: str) -> None:
    assert searching(catalog).find(sentence)[0] == first


def test_curated_actions_come_before_imported_ones_of_the_same_name(catalog: Path) -> None:
    found = searching(catalog).find("create an issue in TrackHub")
    assert found[0] == "trackhub-create-issue" and "trackhub-api-create-an-issue" in found[:3]


def test_connected_apps_come_first_unless_another_is_named(catalog: Path) -> None:
    search = searching(catalog)
    assert search.find("create an issue")[0] == "trackhub-create-issue", "the featured one"
    assert search.find("create an issue", connected={"other_track"})[0] == "other_track-create-issue"
    assert search.find("create an issue in trackhub", connected={"mail_box"})[0] == "trackhub-create-issue"


def test_apps_may_be_chosen_and_left_out(catalog: Path) -> None:
    search = searching(catalog)
    assert {key.split("-")[0] for key in search.find("create", only={"linear"})} == {"linear"}
    assert "trackhub" not in {key.split("-")[0] for key in search.find("create issue", without={"trackhub"})}
    assert not searching(catalog, hidden={"mail_box"}).find("send email", only={"mail_box"})
    unlisted = searching(catalog, unlisted={"trackhub-create-issue"}).find("create issue trackhub")
    assert unlisted and "trackhub-create-issue" not in unlisted


def test_what_is_in_no_action_finds_nothing(catalog: Path) -> None:
    search = searching(catalog)
    for nothing in ("", "?!", "the", "xyzzy", "zebra", '" OR name_words:*', "a" * 10_000, "\ud800"):
        assert search.find(nothing) == []
    assert len(search.find("issue", limit=2)) == 2


def test_words_that_say_little_still_find_what_has_them(catalog: Path) -> None:
    assert searching(catalog).find("current")[:1] == ["linear-get-current-issue-state"]


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ("lists listed listing list", "list"),
        ("merge merging merged merges", "merg"),
        ("copies copied copy", "copy"),
        ("boxes box", "box"),
        ("status", "status"),
        ("stopping stopped", "stop"),
        ("calls calling", "call"),
        ("sms", "sms"),
    ],
)
def test_forms_of_a_word_have_one_stem(words: str, same: str) -> None:
    assert {stem(word) for word in words.split()} == {same}


def test_stems_are_folded_words() -> None:
    assert stems("Événements: the Issues!") == ["evenement", "the", "issu"]
