"""Another project is made by an owner, who works in it from then on."""

import pytest

from tests.dashboard.embedded import Embedded
from webapp.kit.cursors import Window
from webapp.service.domain.projects import projects

URL = "/build/project/new"
GOOD = {"app_name": "Shop", "support_email": "help@shop.example"}


def test_an_owner_makes_a_project_and_works_in_it(studio: Embedded) -> None:
    owner, colleague = studio.browser(), studio.browser()
    assert 'name="project"' not in owner.get("/apps")
    page = owner.follow(URL, GOOD)
    assert "“Shop” is created. You now work in it." in page and 'value="help@shop.example"' in page
    shop = projects.page(studio.service.store, Window(), q="Shop").items[0]
    assert f"<code>{shop.id}</code>" in page and "Delete this project" in page
    assert 'name="project"' in colleague.get("/settings")
    assert f"<code>{studio.project.id}</code>" in colleague.get("/build/project")


@pytest.mark.parametrize(
    "field, value, sentence",
    [
        ("app_name", " ", "Say what your product is called."),
        ("support_email", "", "Enter an address, such as"),
        ("support_email", "shop", "Use an e-mail address such as"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(studio: Embedded, field: str, value: str, sentence: str) -> None:
    count = projects.page(studio.service.store, Window()).total_count
    answer = studio.browser().send(URL, GOOD | {field: value})
    assert answer.status_code == 422 and f'id="f-{field}-err"' in answer.text
    assert sentence in answer.text
    assert projects.page(studio.service.store, Window()).total_count == count


def test_others_meet_nothing(studio: Embedded) -> None:
    for role in ("developer", "member"):
        browser = studio.browser(role)
        browser.get(URL, code=404)
        assert browser.send(URL, GOOD).status_code == 404
