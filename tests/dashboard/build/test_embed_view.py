"""What the Embed page shows of the apps, and of a service that lacks something."""

import pytest

from tests.dashboard.conftest import Stage
from webapp.dashboard.build import embed_view


def test_apps_that_are_ready_come_first_and_those_without_accounts_not_at_all(stage: Stage) -> None:
    with stage.request():
        names = [name for _, name in embed_view._app_choices("")]
        unknown = embed_view._app_choices("gone")[-1]
    assert names == ["Let the user choose", "GitHub", "Stripe", "Slack (needs setup)"] and unknown == ("gone", "gone")


def test_every_app_can_be_chosen_however_many_there_are(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_view, "_AT_ONCE", 2)
    for number in range(7):
        stage.connect.add_app(f"app{number}", f"App {number}", "keys")
    with stage.request():
        assert len(embed_view._app_choices("")) == 11


def test_a_service_that_is_down_leaves_the_form(stage: Stage) -> None:
    stage.connect.down = True
    page = stage.signed_in().get("/build/embed")
    assert page.status_code == 200 and "Make a new token" in page.text


def test_another_service_that_checks_no_pages_has_no_checklist(elsewhere: Stage) -> None:
    page = elsewhere.signed_in().get("/build/embed")
    assert page.status_code == 200 and "Will it work in your product?" not in page.text
    assert "http://127.0.0.1:9/v1/oauth/token" in page.text
