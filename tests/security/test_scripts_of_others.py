"""Markup and scripts in everything that others may write: no page of ours runs any of it, in a real browser.

Names, descriptions, labels, options, events, answers of receivers, errors of providers, logs and results hold it. The
browser goes wherever a link of the dashboard leads, and must end without a script of others and without a report of
the Content-Security-Policy.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import chromium, contexts
from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.deployed import plant_trigger_of
from tests.fakes.installation import Installation, copied, prepared
from tests.fakes.receiver import Mood, Receiver, receiving
from tests.fakes.thirdparty import GOOD_KEY, ThirdParty
from tests.fakes.triggers import request_of
from webapp.kit.clock import FakeClock
from webapp.people import users
from webapp.service.components.calls import Emitted
from webapp.service.domain.accounts import account_state, accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.deliveries import trigger_webhooks
from webapp.service.domain.projects import activity, projects
from webapp.service.domain.triggers import fire, inbox
from webapp.service.domain.triggers import inbox as trigger_inbox

__all__ = ["chromium", "contexts"]
pytestmark = pytest.mark.browser

EVIL = (
    "</textarea></script><img src=x onerror=owned=1>\"'><svg onload=owned=1>"
    "<script>owned=1</script>[a](javascript:owned=1) {{7*7}} ${owned=1}"
)
PASSWORD = "a password of the tests"
COMPONENTS = {
    "act/1.0.0.py": """
class Act(Action):
    name = EVIL[:100]
    description = EVIL
    annotations = dict(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=True)
    note = alert(EVIL, "warning")
    account = app("acme_keys", optional=True)
    text = string(label=EVIL, description=EVIL, optional=True, default=EVIL)
    pick = string(label="Pick", optional=True, options=[Option(EVIL, EVIL)])
    far = string(label="Far", optional=True, options=lambda ctx: Options([Option(EVIL, EVIL)]))
    thing = object_(label="Thing", optional=True, default={EVIL: EVIL})

    def run(self, ctx):
        ctx.log(EVIL)
        ctx.export("$summary", EVIL)
        ctx.export(EVIL, EVIL)
        ctx.files.write("x.txt", EVIL.encode())
        if ctx.props.text == "fail":
            raise ComponentError(EVIL)
        return {EVIL: [EVIL]}
""",
    "see/1.0.0.py": """
class See(Trigger):
    name = EVIL[:100]
    description = EVIL
    http = http_interface()
    text = string(label=EVIL, description=EVIL, optional=True)

    def run(self, ctx):
        ctx.log(EVIL)
        ctx.emit({EVIL: EVIL}, id=EVIL, summary=EVIL)
        raise ComponentError(EVIL)
""",
}


@pytest.fixture(scope="module")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory, running_party: ThirdParty) -> Path:
    """Components whose author is not to be trusted."""
    folder = tmp_path_factory.mktemp("evil")
    for place, text in COMPONENTS.items():
        (folder / "components" / place).parent.mkdir(parents=True)
        head = f"from webapp.service.components.authoring import *\nEVIL = {EVIL!r}\n"
        (folder / "components" / place).write_text(head + text)
    return prepared(folder, running_party.apps)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        server.moods["/evil"] = Mood(400, {"X-Said": EVIL, "Content-Type": "text/html"}, "", EVIL.encode())
        yield server


@pytest.fixture
def installation(
    data: Path, clock: FakeClock, party: ThirdParty, prepared_folder: Path, receiver: Receiver
) -> Iterator[Installation]:
    made = Installation(
        copied(prepared_folder, data), clock=clock, PATCHBAY_ALLOW_HOSTS=f"{party.netloc},{receiver.netloc}"
    ).start()
    projects.update(made.service, made.project, app_name=EVIL[:100], name=EVIL[:100])
    yield made
    made.stop()


@pytest.fixture
def filled(installation: Installation, receiver: Receiver, party: ThirdParty, clock: FakeClock) -> str:
    """One of everything, for a person who signs in; their address."""
    service = installation.service
    ada = users.create(service.store, clock, email="ada@example.com", password=PASSWORD, role="owner")
    account = connected(installation, party, ada.id)
    token = installation.server_token()
    for text in ("fine", "fail"):
        body = {"id": "~/act", "external_user_id": ada.id, "configured_props": {"text": text}, "stash_id": "NEW"}
        assert installation.api("POST", "actions/run", token, json=body).status_code == 200
    for key, configured in (("~/see", {"text": EVIL}), ("http-new-requests", {})):
        trigger, _ = plant_trigger_of(service, installation.scene, key, configured, user=ada.id)
        with service.store.write() as tx:
            trigger_webhooks.set_urls(tx, service, trigger, [receiver.url("/evil")])
            tx.run("UPDATE deployed_triggers SET name = :name, last_error = :name WHERE id = :id",
                   {"name": EVIL, "id": trigger.id})  # fmt: skip
        if key == "~/see":
            trigger_inbox.add(service, trigger, request_of(EVIL))
            waiting = trigger_inbox.claim(service)
            assert waiting
            inbox.run_queued(service, waiting)
        fire.emit(service, trigger, [Emitted({EVIL: [EVIL]}, EVIL, EVIL, clock())])
    post = DeliveryHarness(service, clock, installation.scene, receiver)
    assert {outcome.status for outcome in post.turn()} == {400}
    with service.store.write() as tx:
        activity.write(tx, account.subject, clock(), "trouble", EVIL, good=False)
    account_state.mark_retrying(service, account, EVIL)
    return ada.email


def connected(installation: Installation, party: ThirdParty, user: str) -> Account:
    """An account whose name at the provider is not to be trusted."""
    party.identity = {"id": EVIL, "name": EVIL}
    token = installation.token(user)
    body = {"app_slug": "acme_keys", "cfmap_json": json.dumps({"api_key": GOOD_KEY}), "connect_token": token}
    made = installation.api("POST", "accounts", token, json=body)
    assert made.status_code == 200, made.text
    return accounts.get(installation.service.store, installation.scene, made.json()["id"])


def test_no_script_of_others_runs(
    installation: Installation, party: ThirdParty, filled: str, contexts: Callable[..., Any]
) -> None:
    page = contexts().new_page()
    page.goto(f"{installation.url}/sign-in")
    page.locator("input[name=email]").fill(filled)
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("form button[type=submit]").first.click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    seen, shown = walked(page, installation)
    assert len(shown) > 12, "the pages that it stands on"
    shapes = {re.sub(r"/(\w+_\w+|h/\w+)(?=/|$)", "/ID", path) for path in seen}
    assert {"/", "/apps", "/accounts", "/accounts/ID", "/triggers", "/triggers/ID", "/triggers/ID/deliveries/ID",
            "/triggers/ID/events/ID", "/triggers/ID/logs", "/logs"} <= shapes  # fmt: skip
    assert any("/runs/ID" in path for path in shapes)
    party.mood = "misnaming"
    link = page.context.new_page()
    token = installation.token("evil", app=None)
    link.goto(installation.link(token, "acme_keys"))
    link.locator("input[name=cf_api_key]").fill(EVIL.replace("\n", ""))
    link.locator("form button[type=submit]").first.click()
    link.wait_for_load_state("networkidle")
    assert not link.evaluate("window.owned")
    assert "api" in link.content().lower()


BEGIN = ("/apps/acme_keys/actions/~/act", "/apps/acme_keys", "/triggers", "/accounts", "/logs", "/")


_PAGE = re.compile(
    r"/(?!h/|apps/(?!acme_keys)|docs/|files/|v1/|\S*(?:export|payload)\.)"
)  # no downloads: they aren't pages


def walked(page: Any, installation: Installation) -> tuple[set[str], set[str]]:
    """Go wherever links lead, twice to each kind of place; where that was, and where the markup was shown as text."""
    waiting, seen, shown, kinds = [*BEGIN], set[str](), set[str](), dict[str, int]()
    while waiting:
        address = waiting.pop(0)
        parts = urlsplit(address)
        kind = re.sub(r"\w+_\w{6,}", "ID", parts.path) + ("?" if parts.query else "")
        if (parts.path in seen and not parts.query) or kinds.get(kind, 0) >= 3 or len(kinds) > 90:
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        seen.add(parts.path)
        answer = page.goto(installation.url + address, wait_until="load")
        assert answer.status < 500, address
        assert not page.evaluate("window.owned"), address
        if page.evaluate("document.body.textContent.includes('owned=1')"):
            shown.add(parts.path)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = page.evaluate("[...document.querySelectorAll('a[href]')].map(one => one.getAttribute('href'))")
        assert not any(one.strip().lower().startswith(("javascript:", "data:", "vbscript:")) for one in found), address
        waiting += [one.partition("#")[0] for one in found if _PAGE.match(one)]
    return seen, shown
