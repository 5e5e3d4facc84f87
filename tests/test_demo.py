"""The mark of a demo installation, and the sentence on its pages."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.once.catalog import linked
from webapp import demo
from webapp.app import create_app
from webapp.errors import Throttled
from webapp.kit.clock import DAY, MINUTE, SECOND, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

BASE = "http://localhost:8600"
PAGES = ("/sign-in", "/docs", "/docs/api", "/nothing", "/_static/connect.html?token=ctok_x")


def test_an_installation_is_a_demo_once_it_is_marked(store: Any) -> None:
    assert not demo.is_demo(store)
    with store.write() as tx:
        demo.mark(tx, "Fernhollow", 1)
    assert demo.is_demo(store)


@pytest.fixture
def service(settings: Settings, built_catalog: Path) -> Iterator[Service]:
    linked(built_catalog, settings.data)
    opened = open_service(settings)
    yield opened
    close_service(opened)


@pytest.mark.parametrize("marked", [True, False])
def test_each_page_of_a_demo_says_so_and_no_other(service: Service, marked: bool) -> None:
    if marked:
        with service.store.write() as tx:
            demo.mark(tx, "Fernhollow", 1)
    client = create_app(service.settings, service=service).test_client()
    said = {page: "Demo data" in client.get(page, base_url=BASE).text for page in PAGES}
    assert said == dict.fromkeys(PAGES, marked)


@pytest.fixture
def links(store: Any, clock: FakeClock) -> demo.Links:
    return demo.Links(store, clock, b"a key of this installation")


def test_a_link_is_good_for_a_day_where_it_was_signed(links: demo.Links, clock: FakeClock) -> None:
    path = links.create("sandbox-find-tasks")
    text = path.removeprefix("/demo/")
    link = links.read(text)
    assert link is not None
    assert link.component == "sandbox-find-tasks"
    assert replace(links, key=b"a key of another one").read(text) is None
    assert links.read(f"{text[:-9]}{'A' if text[-9] != 'A' else 'B'}{text[-8:]}") is None
    assert links.read(links.create("sandbox-delete-task").removeprefix("/demo/")) is None
    clock.advance(DAY - 2 * SECOND)
    assert links.read(text) == link
    clock.advance(2 * SECOND)
    assert links.read(text) is None


def test_each_link_has_limits_for_a_minute_and_in_all(links: demo.Links, clock: FakeClock) -> None:
    per_minute, most = demo.LIMITS["run"]
    used = 0
    while used < most:
        for _ in range(per_minute):
            links.count("one", "run")
            used += 1
        with pytest.raises(Throttled) as throttled:
            links.count("one", "run")
        links.count("other", "run")
        links.count("one", "form")
        assert (throttled.value.retry_after > 60) == (used >= most)
        clock.advance(MINUTE)
    with pytest.raises(Throttled):
        links.count("one", "run")
