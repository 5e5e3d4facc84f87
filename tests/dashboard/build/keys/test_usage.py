"""The chart of usage on API & keys."""

from tests.dashboard.embedded import Embedded
from webapp.dashboard.build.keys.usage import DAYS, by_day
from webapp.dashboard.client.build.usage import UsageHour
from webapp.kit.clock import DAY, HOUR, SECOND, FakeClock
from webapp.service.domain.projects import usage

URL = "/build/keys"


def test_hours_add_up_by_day() -> None:
    starts = (DAY, DAY + HOUR, 40 * DAY)
    hours = [UsageHour.model_construct(start=at // SECOND, runs=1, proxied=2, events=3) for at in starts]
    days = by_day(hours, first=DAY)
    assert len(days) == DAYS and days[0].start == DAY
    assert (days[0].runs, days[0].proxied, days[0].events, days[0].total) == (2, 4, 6, 12)
    assert sum(day.total for day in days) == 12, "what lies outside is left out"


def test_the_page_says_what_was_used(office: Embedded, office_clock: FakeClock) -> None:
    with office.service.store.write() as tx:
        tx.run("DELETE FROM usage")
    assert "No usage yet" in office.browser().get(f"{URL}/usage")
    with office.service.store.write() as tx:
        usage.add(tx, office.scene, "run", office_clock(), by=1200)
        usage.add(tx, office.scene, "event", office_clock() - DAY)
    page = office.browser().get(f"{URL}/usage")
    for words in ("1,200 actions run", "0 proxy requests", "1 event delivered", '<td class="num">1,200</td>'):
        assert words in page
