"""The three groups of the Apps page: each app in one of them, and a cursor from group to group."""

from typing import Any

import pytest

from webapp.dashboard import app_groups
from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.models.accounts import AppPage

SLUGS = [f"{kind}{number}" for kind in ("own", "open", "shut") for number in range(4)]
STATES = {"own": "connected", "open": "ready", "shut": "setup"}


class FakeUser:
    """A service with four apps of each kind, which lists by state if it is ``able`` to."""

    def __init__(self, *, able: bool = True) -> None:
        self.able, self.asked = able, list[tuple[AppFilter, int]]()

    def apps(self, filters: AppFilter, *, limit: int, after: str = "") -> AppPage:
        self.asked.append((filters, limit))
        own, wanted = filters.connected.split(","), filters.states.split(",")
        states = {slug: STATES[slug[:-1]] for slug in SLUGS}
        states |= {slug: "ready" for slug in SLUGS[:4] if slug not in own}
        slugs = sorted(states, key=lambda slug: (list(STATES.values()).index(states[slug]), SLUGS.index(slug)))
        slugs = [slug for slug in slugs if not filters.states or states[slug] in wanted]
        first, counts = int(after or 0), {state: list(states.values()).count(state) for state in STATES.values()}
        items = [{"name_slug": slug, "patchbay": {"ready": states[slug] != "setup"}} for slug in slugs[first:][:limit]]
        end = str(first + limit) if first + limit < len(slugs) else ""
        info = {"total_count": len(slugs), "end_cursor": end}
        more = {"counts": {"states": counts, "categories": {"appcat_1": 7}}} if filters.states and self.able else {}
        return AppPage.model_validate({"data": items, "page_info": info, **more})


def read(**more: Any) -> app_groups.Groups:
    options: dict[str, Any] = {"connected": SLUGS[:4], "count": 5} | more
    return app_groups.read(FakeUser().apps, AppFilter(), options.pop("connected"), **options)


def slugs(groups: app_groups.Groups) -> list[str]:
    return [app.slug for group in groups.groups for app in group.apps]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 12, 100])
def test_steps_of_any_length_show_every_app_once_in_order(count: int) -> None:
    seen, cursor, headings = [], "", []
    for _ in range(20):
        groups = read(count=count, after=cursor)
        seen += slugs(groups)
        headings += [group.state for group in groups.groups if group.begins]
        assert groups.counts == {"connected": 4, "ready": 4, "setup": 4}
        assert groups.total == 12 and groups.shown <= count
        if not (cursor := groups.next_cursor):
            break
    assert seen == SLUGS
    assert headings == ["connected", "ready", "setup"]


def test_one_state_alone_ends_with_its_group() -> None:
    groups = read(state="ready", count=3)
    assert slugs(groups) == SLUGS[4:7] and groups.total == 4
    rest = read(state="ready", count=3, after=groups.next_cursor)
    assert slugs(rest) == [SLUGS[7]] and not rest.next_cursor


def test_nobody_connected_and_a_service_that_does_not_list_by_state() -> None:
    assert read(connected=[]).counts == {"connected": 0, "ready": 8, "setup": 4}
    assert slugs(read(connected=[], state="connected")) == []
    plain = app_groups.read(FakeUser(able=False).apps, AppFilter(), None, state="setup", count=100)
    assert slugs(plain) == SLUGS and plain.groups[0].state == ""
    assert (plain.counts, plain.total, plain.categories) == ({"": 12}, 12, None)


def test_a_broken_cursor_starts_again() -> None:
    assert slugs(read(after="nothing:3")) == SLUGS[:5]


def test_a_portal_has_no_apps_that_are_not_set_up() -> None:
    groups = read(all_states=False, count=100)
    assert slugs(groups) == SLUGS[:8] and groups.counts == {"connected": 4, "ready": 4} and groups.total == 8
    assert slugs(read(all_states=False, state="setup", count=100)) == SLUGS[:8]


def test_all_of_it_is_one_list_with_the_filter() -> None:
    user = FakeUser()
    groups = app_groups.read(user.apps, AppFilter(q="x"), SLUGS[:4], count=5)
    filters = AppFilter(q="x", states="connected,ready,setup", connected="own0,own1,own2,own3")
    assert user.asked == [(filters, 5)] and groups.categories == {"appcat_1": 7}


def test_of_very_many_connected_apps_the_others_stand_in_the_group_that_the_service_has_them_in() -> None:
    many = [f"a{number}" for number in range(199)] + SLUGS[:4]
    groups = read(connected=many, count=100)
    assert slugs(groups) == SLUGS and groups.counts == {"connected": 1, "ready": 7, "setup": 4}
    assert [len(group.apps) for group in groups.groups] == [1, 7, 4]
