"""Build → Usage: runs, events and failures by app and day, of the project and environment only."""

import re

from tests.dashboard.embedded import Embedded
from webapp.kit.clock import DAY, FakeClock, iso
from webapp.service.domain.projects import app_usage, projects
from webapp.service.domain.projects.projects import Scene

PAGE = "/build/usage"


def cells(page: str, row: str) -> list[str]:
    """The numbers of the row with the heading ``row``."""
    (found,) = re.findall(rf'<th scope="row">(?:\s*<a [^>]*>)?{row}<.*?</tr>', page, re.DOTALL)
    return re.findall(r'class="num">([\d,]+)<', found)


def test_apps_and_days_have_their_numbers(office: Embedded, office_clock: FakeClock) -> None:
    midnight = office_clock() // DAY * DAY
    elsewhere = Scene(projects.create(office.service, name="Other").id, "development")
    with office.service.store.write() as tx:
        tx.run("DELETE FROM app_usage")
        app_usage.add(tx, office.scene, "github", "run", midnight - 1, 1200)
        app_usage.add(tx, office.scene, "github", "failed_run", midnight - 1, 7)
        app_usage.add(tx, office.scene, "slack", "event", midnight)
        app_usage.add(tx, office.scene, None, "event", midnight, 2)
        app_usage.add(tx, office.scene, "slack", "failed_delivery", midnight - 20 * DAY, 3)
        app_usage.add(tx, elsewhere, "notion", "run", midnight, 99)
        app_usage.add(tx, Scene(office.project.id, "production"), "notion", "run", midnight, 98)
    browser = office.browser("developer")
    page = browser.get(PAGE)
    assert cells(page, "GitHub") == ["1,200", "7", "0", "0"] and cells(page, "Slack") == ["0", "0", "1", "0"]
    assert cells(page, "No app") == ["0", "0", "2", "0"] and "Notion" not in page
    assert cells(page, iso(midnight)[:10]) == ["0", "0", "3", "0"]
    assert cells(page, iso(midnight - 1)[:10]) == ["1,200", "7", "0", "0"]
    assert re.findall(r'class="figure">([\d,]+)<', page) == ["1,200", "3", "7"]
    assert page.count('class="x"') == 2, "the failed runs, among the runs and among the failures"
    assert re.findall(r'class="figure">([\d,]+)<', browser.get(f"{PAGE}?days=30")) == ["1,200", "3", "10"]
    of_one = browser.get(f"{PAGE}?days=30&app=slack")
    assert cells(of_one, "Slack") == ["0", "0", "1", "3"] and "Day by day" in of_one
    assert re.findall(r'class="figure">([\d,]+)<', of_one) == ["0", "1", "3"]
    assert "Nothing happened" in browser.get(f"{PAGE}?days=nonsense&app=<b>")


def test_members_find_nothing_there(office: Embedded) -> None:
    assert PAGE in office.browser().get(PAGE)
    office.browser("member").get(PAGE, code=404)
