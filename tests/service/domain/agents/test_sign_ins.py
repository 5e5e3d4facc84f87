"""An agent that a person let in acts for that person only, as long as both may."""

from collections.abc import Callable

import pytest

from webapp.errors import Unauthorized
from webapp.people import users
from webapp.people.users import User
from webapp.service.domain.agents import sessions, sign_ins
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene


def test_an_agent_acts_for_its_person(service: Service, scene: Scene, ada: User, sign_in: Callable[..., str]) -> None:
    agent = sign_ins.recognise(service, sign_in())
    assert (agent.scene, agent.external_id, agent.name) == (scene, ada.id, "Desk Helper")


def test_ending_its_session_ends_its_tokens(service: Service, scene: Scene, sign_in: Callable[..., str]) -> None:
    token = sign_in()
    agent = sign_ins.recognise(service, token)
    session = sessions.enter(service, agent.scene, agent.external_id, agent.entry, agent.name)
    sessions.end(service, external_users.get(service.store, scene, agent.external_id), session.id)
    with pytest.raises(Unauthorized):
        sign_ins.recognise(service, token)
    assert sessions.of_user(service.store, scene, agent.external_id) == []
    assert sessions.purge(service) == 1


def test_who_may_not_sign_in_has_no_agent(service: Service, ada: User, sign_in: Callable[..., str]) -> None:
    token = sign_in()
    with service.store.write() as tx:
        users.set_enabled(tx, service.clock(), ada, False)
    with pytest.raises(Unauthorized):
        sign_ins.recognise(service, token)


def test_who_was_made_a_member_works_where_the_dashboard_does(
    service: Service, ada: User, sign_in: Callable[..., str]
) -> None:
    here, elsewhere = sign_in(), sign_in("production")
    with service.store.write() as tx:
        users.set_role(tx, service.clock(), ada, "member")
    assert sign_ins.recognise(service, here).external_id == ada.id
    with pytest.raises(Unauthorized):
        sign_ins.recognise(service, elsewhere)


@pytest.mark.parametrize("token", ["", "mcpa_", "mcpa_x", "ctok_x"])
def test_a_token_that_is_none(service: Service, token: str) -> None:
    with pytest.raises(Unauthorized):
        sign_ins.recognise(service, token)
