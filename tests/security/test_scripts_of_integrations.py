"""Markup and scripts in all that a package of npm says of itself: no page of ours runs any of it, in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import chromium, contexts, need
from tests.browser.person import Person
from tests.fakes.npm_registry import package, registry
from tests.fakes.served import Served, served
from tests.security.test_scripts_of_others import EVIL
from webapp.service.components.pieces import node

__all__ = ["chromium", "contexts"]
pytestmark = pytest.mark.browser
PIECE = """
const EVIL = %s;
const prop = (type, more = {}) => ({ type, displayName: EVIL, description: EVIL, required: false, ...more });
const options = { disabled: false, placeholder: EVIL, options: [{ label: EVIL, value: EVIL }] };
const props = {
  plain: prop("SHORT_TEXT", { defaultValue: EVIL }),
  [EVIL]: prop("LONG_TEXT"),
  note: prop("MARKDOWN", { value: EVIL, description: `[a](javascript:owned=1) ${EVIL}` }),
  pick: prop("STATIC_DROPDOWN", { options }),
  far: prop("DROPDOWN", { refreshers: [], options: async () => options }),
  more: prop("DYNAMIC", { refreshers: [], props: async () => ({ [EVIL]: prop("SHORT_TEXT") }) }),
};
const auth = {
  type: "CUSTOM_AUTH", displayName: EVIL, description: EVIL, required: true,
  props: { key: prop("SHORT_TEXT", { required: true }), pick: prop("STATIC_DROPDOWN", { options }) },
  validate: async () => ({ valid: false, error: EVIL }),
};
const run = async () => { console.log(EVIL); throw new Error(EVIL); };
const act = { name: "act", displayName: EVIL, description: EVIL, requireAuth: false, props, run };
const gone = { ...act, name: EVIL, props: { x: prop("NOBODY", { required: true }) } };
const see = { name: "see", displayName: EVIL, description: EVIL, type: "POLLING", requireAuth: false, props, run,
  sampleData: EVIL, onEnable: run, onDisable: run };
exports.evil = {
  displayName: EVIL, description: EVIL, logoUrl: "javascript:owned=1", authors: [EVIL], categories: [EVIL], auth,
  getContextInfo: () => ({ version: 2 }), actions: () => ({ act, gone }), triggers: () => ({ see }),
};
// "https://evil.example-shop.io/"
"""
FACTS: dict[str, Any] = {
    "description": EVIL,
    "author": {"name": EVIL, "url": "javascript:owned=1"},
    "license": EVIL,
}
PLACES = ("", "/packages?q=evil", "/packages?q=%3Cscript%3Eowned%3D1%3C%2Fscript%3E")


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    need(node.find() is not None, "Node is missing")
    with registry() as npm, served(tmp_path / "data", PATCHBAY_PIECE_REGISTRY=npm.url) as product:
        files = {"index.js": PIECE % json.dumps(EVIL), "LICENSE": EVIL}
        npm.publish(package("@activepieces/piece-evil", files=files, **FACTS))
        yield product


def looks(page: Any) -> bool:
    """Whether the markup is shown, as text alone."""
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert not page.evaluate("window.owned"), page.url
    links = page.evaluate("[...document.querySelectorAll('a[href], img[src]')].map(each => each.href || each.src)")
    assert not any(link.strip().lower().startswith(("javascript:", "data:text", "vbscript:")) for link in links)
    return bool(page.evaluate("document.body.innerHTML.includes('owned=1')"))


def test_nothing_that_a_package_says_is_run(contexts: Any, fresh: Served) -> None:
    page = contexts().new_page()
    Person(page, fresh).sign_up(fresh.start_url)
    integrations = f"{fresh.url}/build/integrations"
    page.goto(f"{integrations}/packages?q=evil")
    assert looks(page)
    page.get_by_role("button", name="Look at Evil").click()
    page.get_by_label("Hosts, one on each line").wait_for(timeout=60_000)
    assert looks(page)
    page.locator("form[action*='/addition'] button").first.click()
    page.locator("a[href*='/build/integrations/pc_']").first.wait_for(timeout=60_000)
    for place in PLACES:
        page.goto(f"{integrations}{place}")
        assert looks(page)
    page.goto(page.locator("a[href*='/build/integrations/pc_']").first.evaluate("each => each.href"))
    assert looks(page)
    for place in ("/apps/evil/actions/evil-act", "/apps/evil/triggers/evil-see", "/apps?q=evil", "/apps/evil"):
        answer = page.goto(f"{fresh.url}{place}")
        assert answer.status < 500 and looks(page), place
    page.get_by_role("button", name=re.compile("^Connect")).click()
    page.locator("input[name=cf_key]").fill(EVIL)
    assert looks(page)
    page.locator("form button[type=submit]").first.click()
    page.get_by_text("owned=1").first.wait_for()
    assert looks(page)
