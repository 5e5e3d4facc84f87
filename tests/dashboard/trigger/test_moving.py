"""A trigger says which version it runs with, and that its app is gone; a click moves it to the newest."""

from typing import Any

from tests.dashboard.fake_components import install
from tests.dashboard.trigger.fake_triggers import Watchtower

PAGE = "/triggers/dc_000000x"
GONE = "It waits, because Tasks was removed here, and goes on once that is added again."


def test_a_later_version_is_told_and_taken(stage: Any, tower: Watchtower) -> None:
    install(stage.connect)
    tower.add(stage.alice.id, name="Runs", newest_version="1.3.0")
    browser = stage.signed_in()
    page = browser.get(PAGE).text
    assert "It runs with version 1.2.0. Version 1.3.0 is here, too." in " ".join(page.split())
    assert f'action="{PAGE}/version"' in page and 'value="1.3.0"' in page and "Move to 1.3.0" in page
    assert "as do the settings that the later version has, too." in page
    assert "1.3.0 is here, too" in browser.get(f"{PAGE}/configuration").text
    assert browser.send(f"{PAGE}/version", {"version": "1.3.0"}).status_code == 303
    assert tower.updates == [{"version": "1.3.0"}]
    assert "“Runs” runs with version" in browser.get(PAGE).text
    tower.refusal = (400, "Place is missing.")
    browser.send(f"{PAGE}/version", {"version": "1.3.0"})
    assert "It was not moved. Place is missing." in browser.get(PAGE).text
    assert browser.send("/triggers/dc_nobodys/version", {"version": "1.3.0"}).status_code == 404


def test_one_whose_version_was_removed_waits_to_be_moved(stage: Any, tower: Watchtower) -> None:
    install(stage.connect)
    why = "It waits, because version 1.2.0 of it was removed here: move it to version 1.3.0."
    tower.add(stage.alice.id, available=False, waits=why, newest_version="1.3.0")
    page = " ".join(stage.signed_in().get(PAGE).text.split())
    assert f"<b>Its version was removed.</b> {why}" in page and "Move to 1.3.0" in page
    assert "Once it is moved to another version" in page
    assert "Waits for its app." not in page and "Once its app" not in page


def test_one_with_the_newest_says_nothing_of_versions(stage: Any, tower: Watchtower) -> None:
    install(stage.connect)
    tower.add(stage.alice.id, newest_version=None)
    page = stage.signed_in().get(PAGE).text
    assert "Move to" not in page and "is here, too" not in page


def test_one_whose_app_was_removed_says_so_everywhere(stage: Any, tower: Watchtower) -> None:
    install(stage.connect)
    tower.add(stage.alice.id, name="Stands", available=False, waits=GONE, app="card_shop")
    browser = stage.signed_in()
    page = browser.get(PAGE).text
    assert f"<b>Waits for its app.</b> {GONE}" in " ".join(page.split())
    assert "Once its app is here again" in page and "Card Shop" in page and "/apps/card_shop" not in page
    assert "/apps/card_shop" not in browser.get(f"{PAGE}/configuration").text
    listed = browser.get("/triggers").text
    assert "Waits for its app" in listed and GONE in listed and "Card Shop" in listed
    assert "Stands" in browser.get("/triggers?status=no-app").text
