"""The links in reconnect mails: used once, continued by one browser for an hour, forgotten in the end."""

from typing import Any

import pytest

from webapp.kit.clock import DAY, HOUR, FakeClock
from webapp.people import users
from webapp.people.users import User
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import reconnect_links


@pytest.fixture
def ada(service: Service) -> User:
    return users.create(service.store, service.clock, email="ada@example.com", password="a long one", role="member")


def link_to(service: Service, owner: User, *named: Account) -> str:
    token = reconnect_links.new_token()
    with service.store.write() as tx:
        reconnect_links.insert(tx, service.clock(), owner.id, token, named)
    return token


def use(service: Service, token: str) -> str | None:
    with service.store.write() as tx:
        return reconnect_links.use(tx, service.clock(), token)


def test_it_is_used_once_and_continued_by_who_used_it(service: Service, clock: FakeClock, ada: User) -> None:
    token = link_to(service, ada)
    link = reconnect_links.by_token(service.store, token)
    assert link is not None
    assert token not in repr(link)
    assert reconnect_links.of_visit(service.store, clock(), link.id, token) is None  # not used yet
    secret = use(service, token)
    assert secret is not None
    assert use(service, token) is None
    used = "SELECT actor FROM audit WHERE verb = 'reconnect_link_used'"
    assert [dict(row) for row in service.store.all(used)] == [{"actor": ada.id}]
    assert reconnect_links.of_visit(service.store, clock(), link.id, token) is None
    assert reconnect_links.of_visit(service.store, clock() + HOUR - 1, link.id, secret) is not None
    assert reconnect_links.of_visit(service.store, clock() + HOUR, link.id, secret) is None


def test_it_names_accounts_that_are_still_its_persons(service: Service, ada: User, plant: Any) -> None:
    mine, others = plant(ada.id), plant("somebody")
    plant(ada.id)
    link = reconnect_links.by_token(service.store, link_to(service, ada, mine, others))
    assert link is not None
    assert [account.id for account in reconnect_links.accounts_of(service.store, link)] == [mine.id]


def test_it_works_for_a_week_and_is_remembered_for_two(service: Service, clock: FakeClock, ada: User) -> None:
    token = link_to(service, ada)
    clock.advance(7 * DAY)
    assert use(service, token) is None
    assert reconnect_links.by_token(service.store, token) is not None
    clock.advance(7 * DAY)
    assert reconnect_links.purge(service) == 0
    clock.advance(1)
    assert reconnect_links.purge(service) == 1
    assert reconnect_links.by_token(service.store, token) is None
