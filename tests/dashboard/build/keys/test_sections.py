"""What is shown once, and to whom."""

from tests.dashboard.embedded import Embedded


def test_a_secret_is_shown_to_who_made_it_only(office: Embedded) -> None:
    owner, developer = office.browser(), office.browser("developer")
    developer.send("/build/keys/secret/kept")
    form = {"name": "Once", "project_id": "", "access": "connect:*"}
    assert 'id="secret"' in owner.follow("/build/keys/clients", form)
    assert 'id="secret"' not in developer.get("/build/keys/webhooks")
    assert 'id="secret"' not in owner.follow("/build/keys/secret/kept", {"section": "webhooks"})


def test_whichever_process_draws_the_page_shows_it_until_another_hears_that_it_was_kept(office: Embedded) -> None:
    first, second = office.processes()
    form = {"name": "Spread", "project_id": "", "access": "connect:*"}
    assert first.send("/build/keys/clients", form).status_code == 303
    assert 'id="secret"' in second.get("/build/keys/usage")
    assert 'id="secret"' not in second.follow("/build/keys/secret/kept", {"section": "webhooks"})
    assert 'id="secret"' not in first.get("/build/keys/clients")
