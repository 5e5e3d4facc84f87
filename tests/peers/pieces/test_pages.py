"""Pages of pieces: each action and trigger of the registry's is drawn, and one is filled in and run in a browser."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
import requests

from tests.peers.pieces import owner
from tests.peers.pieces.conftest import CURRENT, Ours, Registry
from tests.peers.pieces.owner import Owner

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def session(registry: Registry) -> requests.Session:
    session = requests.Session()
    session.cookies.set(owner.COOKIE, owner.signed_in(registry.bench, owner.create(registry.bench)))
    return session


@pytest.mark.parametrize("name", CURRENT)
def test_every_part_has_a_page_with_its_fields(registry: Registry, session: requests.Session, name: str) -> None:
    bench = registry.bench
    plan = bench.plans[f"@activepieces/piece-{name}"]
    for kind, parts in (("actions", plan.actions), ("triggers", plan.triggers)):
        for part in parts:
            page = session.get(f"{bench.installation.url}/apps/{plan.app}/{kind}/{part.key}", timeout=30)
            assert page.status_code == 200, (part.key, page.text[-500:])
            text = unescape(page.text)
            assert part.name in text
            assert [label for label in part.props.values() if label not in text] == [], part.key


def test_an_action_is_filled_in_and_run(registry: Registry, contexts: Callable[..., Any], axe: Any) -> None:
    person = Owner(registry.bench, contexts, owner.create(registry.bench))
    person.open("/apps/store/actions/store-put")
    assert axe(person.page) == []
    person.field("Key").fill("colour")
    person.field("Value").fill("teal")
    person.run().locator("#result").get_by_text("teal").first.wait_for()


def test_every_kind_of_prop_is_drawn(ours: Ours, contexts: Callable[..., Any], axe: Any) -> None:
    somebody = owner.create(ours.bench)
    for scheme, width in (("light", 1200), ("dark", 360)):
        viewport = {"width": width, "height": 900}
        person = Owner(ours.bench, contexts, somebody, color_scheme=scheme, viewport=viewport)
        person.open("/apps/workbench/actions/workbench-every-prop")
        person.fold_out()
        assert axe(person.page) == []
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width
