"""The menu of everybody: its pages, and what is left out where the service has no such thing."""

from typing import Any

from webapp.dashboard import menu


def test_all_pages_are_offered_in_their_order(stage: Any) -> None:
    with stage.request():
        assert list(menu.offered()) == ["apps", "accounts", "triggers", "logs", "agents", "settings"]


def test_what_another_service_lacks_is_left_out(elsewhere: Any) -> None:
    elsewhere.connect.extensions = False
    with elsewhere.request():
        assert list(menu.offered()) == ["apps", "accounts", "triggers", "settings"]
