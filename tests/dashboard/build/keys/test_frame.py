"""What is shown once, and to whom."""

from tests.dashboard.embedded import Embedded


def test_a_secret_is_shown_to_who_made_it_alone(office: Embedded) -> None:
    owner, developer = office.browser(), office.browser("developer")
    developer.send("/build/keys/secret/kept")
    form = {"name": "Once", "project_id": "", "access": "connect:*"}
    assert 'id="secret"' in owner.follow("/build/keys/clients", form)
    assert 'id="secret"' not in developer.get("/build/keys")
    assert 'id="secret"' not in owner.follow("/build/keys/secret/kept")
