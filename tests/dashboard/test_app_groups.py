"""The three groups of the Apps page: each app in one of them, and a cursor from group to group."""

from dataclasses import replace
from typing import Any

import pytest

from webapp.dashboard import app_groups
from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.lenient import PageInfo, PageOf

SLUGS = [f"{kind}{number}" for kind in ("own", "open", "shut") for number in range(4)]


class FakeUser:
    """A service with four apps of each kind."""

    def apps(self, filters: AppFilter, *, limit: int, after: str = "") -> PageOf[App]:
        slugs = [slug for slug in SLUGS if not filters.among or slug in filters.among.split(",")]
        slugs = [slug for slug in slugs if slug not in filters.without.split(",")]
        if filters.ready:
            slugs = [slug for slug in slugs if slug.startswith("shut") == (filters.ready == "false")]
        first = int(after or 0)
        page = [App.model_validate({"name_slug": slug}) for slug in slugs[first:][:limit]]
        end = str(first + limit) if first + limit < len(slugs) else ""
        return PageOf(data=tuple(page), page_info=PageInfo(total_count=len(slugs), end_cursor=end))


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


def test_nobody_connected_and_a_service_that_tells_nothing() -> None:
    assert set(read(connected=[]).counts) == {"ready", "setup"}
    assert slugs(read(connected=[], state="connected")) == []
    plain = read(connected=None, state="setup", count=100)
    assert slugs(plain) == SLUGS and plain.groups[0].state == ""


def test_a_broken_cursor_starts_again() -> None:
    assert slugs(read(after="nothing:3")) == SLUGS[:5]


def test_the_last_group_is_counted_by_the_others_where_their_sum_is_known() -> None:
    limits: list[int] = []

    class Noting(FakeUser):
        def apps(self, filters: AppFilter, *, limit: int, after: str = "") -> PageOf[App]:
            limits.append(limit)
            return super().apps(filters, limit=limit, after=after)

    for more in ({"count": 5}, {"count": 9}, {"count": 5, "state": "ready"}, {"count": 5, "after": "ready:1"}):
        options: Any = {"count": 5} | more
        counted = app_groups.read(Noting().apps, AppFilter(), SLUGS[:4], of=12, **options)
        assert counted == read(**options)
    assert limits == [5, 1, *(9, 5, 1), *(1, 5), *(1, 5, 2)]


def test_the_filter_goes_along() -> None:
    asked: list[AppFilter] = []

    class Noting(FakeUser):
        def apps(self, filters: AppFilter, *, limit: int, after: str = "") -> PageOf[App]:
            asked.append(filters)
            return super().apps(filters, limit=limit, after=after)

    app_groups.read(Noting().apps, AppFilter(q="x"), ["own0"], count=3)
    base = AppFilter(q="x", without="own0")
    assert asked[0] == AppFilter(q="x", among="own0")
    assert {replace(base, ready="true"), replace(base, ready="false")} == set(asked[1:])
