"""External users: which ids can name one, and that each exists once per environment."""

import pytest

from webapp.errors import Invalid
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene


@pytest.mark.parametrize("external_id", ["a", "用户/42", "a b", "x" * 250, "🎉", "%2e%2e"])
def test_any_printable_text_names_a_user(external_id: str) -> None:
    assert external_users.checked(external_id) == external_id


@pytest.mark.parametrize("external_id", ["", "x" * 251, "a\0b", "a\nb", "\x7f", "a\ud800"])
def test_what_cannot_name_a_user(external_id: str) -> None:
    with pytest.raises(Invalid) as caught:
        external_users.checked(external_id)
    assert [detail.field for detail in caught.value.details] == ["external_user_id"]


def test_a_user_is_made_once_per_environment(service: Service, scene: Scene) -> None:
    elsewhere = Scene(scene.project_id, "production")
    with service.store.write() as tx:
        first = external_users.ensure(tx, scene, "alice", 1)
        again = external_users.ensure(tx, scene, "alice", 2)
        other = external_users.ensure(tx, elsewhere, "alice", 3)
    assert first == again == external_users.find(service.store, scene, "alice")
    assert other.id != first.id
    assert external_users.find(service.store, scene, "bob") is None
