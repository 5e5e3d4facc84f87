"""The page as a whole: in the menu of those who may see it, and nowhere for others."""

from tests.dashboard.embedded import Embedded


def test_it_stands_in_the_menu_of_build(office: Embedded) -> None:
    page = office.browser("developer").get("/build/keys")
    assert "<h1>API & keys</h1>" in page
    assert 'href="/build/keys" aria-current="page"' in page
    office.browser("member").get("/build/keys", code=404)
