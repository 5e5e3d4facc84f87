"""The mark of a demo installation, and the sentence on its pages."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webapp import demo
from webapp.app import create_app
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
    shutil.copy(built_catalog, settings.data)
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
