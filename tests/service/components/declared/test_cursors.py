"""Cursors of options that go out to a caller and come back."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import Asked, FakeAnswer
from tests.service.components.declared.conftest import TOKEN, Desk
from tests.service.components.declared.test_lookups import CURSOR, FOLDER, FOLDERS, REQUEST

BY_URL = FOLDER + 'pages = { by = "url", next = "next" }' + REQUEST
BY_LINK = FOLDER + 'pages = { by = "link" }' + REQUEST


def leading(to: str) -> Callable[[Asked], Any]:
    """An app whose first page leads to an address, of which ``{host}`` is its own."""

    def answer(asked: Asked) -> Any:
        start = int(asked.query.get("from", "0"))
        following = to.format(host=asked.headers["host"]) if start < 6 else None
        body = {"rows": FOLDERS[start : start + 3], "next": following}
        return FakeAnswer(200, body, {"Link": f'<{following}>; rel="next"'} if following else {})

    return answer


@pytest.mark.parametrize("text", [BY_URL, BY_LINK])
def test_an_address_goes_out_without_secrets_and_comes_back(desk: Desk, text: str) -> None:
    following = f"http://{{host}}/api/folders?access_token={TOKEN}&from=6&key=%{ord(TOKEN[0]):x}{TOKEN[1:]}"
    desk.on("GET /folders", leading(following))
    first = desk.options(text, "folder")
    assert first["context"] == {"cursor": f"http://{desk.host}/api/folders?from=6"}
    last = desk.options(text, "folder", page=1, previous=first["context"])
    assert last == {"offers": {"Folder 7": 7}, "context": None}


def test_an_address_that_holds_a_secret_prop_does_not_go_out(desk: Desk) -> None:
    desk.on("GET /folders", leading("http://{host}/api/folders?from=6&key=of-a-secret-prop"))
    looked = desk.options(BY_URL, "folder", mask=("of-a-secret-prop",))
    assert (list(looked["offers"].values()), looked["context"]) == ([1, 2, 3, 7], None)


def test_pages_that_lead_elsewhere_in_the_app_are_read_at_once(desk: Desk) -> None:
    desk.on("GET /folders", leading("http://{host}/api/teams/1/folders?from=6"))
    desk.on("GET /teams/1/folders", leading(""))
    looked = desk.options(BY_LINK, "folder")
    assert (list(looked["offers"].values()), looked["context"]) == ([1, 2, 3, 7], None)


@pytest.mark.parametrize(
    "cursor",
    [
        "http://{host}/api/secrets",
        "http://{host}/api/folders/../secrets",
        "http://{host}/api/folders/",
        "https://{host}/api/folders",
        "https://elsewhere.example/api/folders",
        "http://{host}@elsewhere.example/api/folders",
        "/secrets",
        "http://[",
        {"a": 1},
        ["a"],
        7,
    ],
)
def test_no_cursor_leads_to_another_address(desk: Desk, cursor: Any) -> None:
    desk.on("GET /folders", leading(""))
    whole = cursor.format(host=desk.host) if isinstance(cursor, str) else cursor
    reply = desk.call(BY_URL, method="options", prop="folder", page=1, previous={"cursor": whole})
    assert reply.error is not None
    assert reply.error.message == "The cursor belongs to another list, sort or filter; start again without it."
    assert desk.provider.asked == []


@pytest.mark.parametrize("cursor", [{"a": 1}, ["a"], 1.5])
def test_a_cursor_that_is_sent_is_a_text_or_a_number(desk: Desk, cursor: Any) -> None:
    desk.on("GET /folders", {"rows": FOLDERS})
    reply = desk.call(FOLDER + CURSOR + REQUEST, method="options", prop="folder", page=1, previous={"cursor": cursor})
    assert reply.error is not None
    assert desk.provider.asked == []
    assert desk.options(FOLDER + CURSOR + REQUEST, "folder", previous={"cursor": 3})["offers"]
