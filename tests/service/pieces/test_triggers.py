"""How triggers of pieces are set off."""

from typing import Any

import pytest

from tests.service.pieces import described
from webapp.service.pieces.metadata import Part
from webapp.service.pieces.triggers import emitter


def part(told: dict[str, Any]) -> Part:
    return Part.model_validate(told)


def test_one_that_looks_has_a_timer_and_what_it_saw_counts_once() -> None:
    looks = emitter(part(described.NEW), "acme", ["acme", "timer"])
    assert [(prop["name"], prop["type"]) for prop in looks.props] == [
        ("timer_interface", "$.interface.timer"),
        ("db", "$.service.db"),
    ]
    assert looks.props[0]["default"] == {"intervalSeconds": 900}
    assert (looks.strategy, looks.hooks, looks.dedupe) == ("POLLING", ("activate", "deactivate"), "unique")


def test_one_that_is_told_answers_a_handshake_and_is_renewed() -> None:
    told = emitter(part(described.TOLD), "acme", [])
    assert told.props[0] == {"name": "http", "type": "$.interface.http", "customResponse": True}
    assert told.hooks == ("activate", "deactivate", "renew")
    assert (told.handshake, told.renew, told.dedupe) == (
        {"strategy": "HEADER_PRESENT", "paramName": "x-hook-secret"},
        "0 0 * * *",
        None,
    )


def test_one_that_is_told_without_either() -> None:
    plain = {key: value for key, value in described.TOLD.items() if not key.endswith("Configuration")}
    told = emitter(part(plain), "", [])
    assert told.props[0] == {"name": "http", "type": "$.interface.http"}
    assert (told.hooks, told.handshake, told.renew) == (("activate", "deactivate"), None, None)


def test_one_that_hears_its_app_does_so_with_an_account() -> None:
    heard = emitter(part(described.HEARD), "acme", [])
    assert heard.props[0] == {"name": "events", "type": "$.interface.apphook", "appProp": "acme"}
    deaf = emitter(part(described.HEARD), "acme", [], hears=False)
    assert deaf.reason.endswith("nobody connects it by signing in with one.")


@pytest.mark.parametrize(
    ("told", "account", "reason"),
    [
        (described.BY_HAND, "acme", "It is started by hand in a flow"),
        (described.HEARD, "", "Its events come to the address of an OAuth client"),
        ({**described.NEW, "type": "FUTURE"}, "acme", "It is set off in a way that is not known here"),
    ],
)
def test_any_other_says_why_not(told: dict[str, Any], account: str, reason: str) -> None:
    assert emitter(part(told), account, []).reason.startswith(reason)
