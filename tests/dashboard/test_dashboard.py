"""What every page works with: what was read a moment ago, what the service lacks, and who may see keys."""

from typing import Any

import pytest

from tests.dashboard.conftest import PASSWORD
from tests.dashboard.trigger.fake_triggers import Watchtower
from webapp.dashboard import dashboard as board
from webapp.errors import NotFound
from webapp.kit.clock import MINUTE, SECOND
from webapp.people import users


@pytest.mark.embedded  # elsewhere, other processes count what changed
def test_accounts_and_triggers_are_read_again_once_something_changed(busy: Any, tower: Watchtower) -> None:
    with busy.request():
        first, triggers = board.known_accounts(), board.known_triggers()
        assert [account.title for account in first.accounts] == ["Billing", "ada1@example.com", "Work"]
        assert (board.known_accounts(), board.known_triggers()) == (first, triggers)
        assert [len(busy.connect.calls(noun)) for noun in ("/accounts", "/deployed-triggers")] == [1, 1]
        board.forget_triggers()
        board.known_accounts(), board.known_triggers()
        assert [len(busy.connect.calls(noun)) for noun in ("/accounts", "/deployed-triggers")] == [1, 2]
        board.forget_accounts()
        board.known_accounts(), board.known_triggers()
        board.known_accounts(fresh=True)
        assert [len(busy.connect.calls(noun)) for noun in ("/accounts", "/deployed-triggers")] == [3, 3]
        busy.clock.advance(30 * SECOND)
        board.known_accounts()
        assert len(busy.connect.calls("/accounts")) == 4


def test_what_is_known_is_one_persons(busy: Any) -> None:
    bob = users.create(busy.store, busy.clock, email="bob@example.com", password=PASSWORD, role="member")
    with busy.request():
        assert board.known_accounts().total == 3
        assert board.viewer().may_build
    with busy.request(person=bob):
        assert board.known_accounts().total == 0
        assert not board.viewer().may_build
        with pytest.raises(NotFound, match=r"^There is no such account\.$"):
            board.service().account("apn_000000x")


def test_an_app_that_cannot_be_told_is_none(stage: Any) -> None:
    with stage.request():
        assert board.app_of("") is None
        assert board.app_of("absent") is None
        github = board.app_of("github")
        assert github is not None and github.name == "GitHub"
        stage.connect.down = True
        assert board.app_of("github") == github
        stage.clock.advance(5 * MINUTE)
        assert board.app_of("github") is None


def test_uses_of_accounts_follow_from_the_triggers(busy: Any, tower: Watchtower) -> None:
    tower.add(busy.alice.id, accounts=[{"prop": "a", "id": "apn_000000x"}, {"prop": "b", "id": "apn_000000x"}])
    tower.add(busy.alice.id, accounts=[{"prop": "a", "id": "apn_000000x"}, {"prop": "b", "id": "apn_000002x"}])
    with busy.request():
        assert board.uses_by_account() == {"apn_000000x": 2, "apn_000002x": 1}
        assert not busy.connect.calls("/uses")
        board.forget_triggers()
        busy.connect.down = True
        assert board.uses_by_account() is None


def test_a_service_that_failed_is_asked_nothing_more_for_this_page(stage: Any) -> None:
    stage.connect.down = True
    with stage.request():
        assert board.if_up(board.known_accounts) is None
        stage.connect.down = False
        assert board.if_up(board.known_accounts) is None
        assert board.if_up(lambda: pytest.fail("it was asked")) is None
    with stage.request():
        accounts = board.if_up(board.known_accounts)
        assert accounts is not None and accounts.total == 0


def test_our_own_service_is_never_asked_what_it_offers(stage: Any) -> None:
    with stage.request():
        assert board.offers("activity", lambda: pytest.fail("it was asked"))


def test_another_service_is_asked_once_in_a_while(elsewhere: Any) -> None:
    answers: list[object] = [None, "something", "something"]

    def failing() -> object:
        raise NotFound

    with elsewhere.request():
        assert not board.offers("activity", lambda: answers.pop(0))
        assert not board.offers("activity", lambda: answers.pop(0))
        assert board.offers("audit", lambda: answers.pop(0))
        elsewhere.clock.advance(5 * MINUTE)
        assert board.offers("activity", lambda: answers.pop(0))
        assert not board.offers("resending", failing)
    assert answers == []


def test_addresses_and_logos_are_our_own_and_the_services(stage: Any, elsewhere: Any) -> None:
    with stage.request():
        assert board.public_url("/apps") == "http://localhost/apps"
        assert list(board.dashboard().image_origins) == ["http://localhost"]
    with elsewhere.request():
        assert list(board.dashboard().image_origins) == ["http://localhost", "http://127.0.0.1:9"]
