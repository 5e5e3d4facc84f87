"""Draws the pictures of the manual: the pages of a demo in Chromium, light and dark, as WebP in ``static/pictures``.

The demo is lived through and served in this process, at a fixed time for it and for the browser, so that a picture
changes where its page does; only ids differ. Only pictures that are older than their templates are drawn, unless
``--all`` is given. Addresses of the ports that happened to be free are shown as those of a default installation.
"""

import argparse
import base64
import logging
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.conftest import AT_REST, CHROMIUM, FLAGS, serving
from tests.fakes.ports import free_port
from tests.pictures import drawn
from webapp.app import create_app
from webapp.cli import demo_story
from webapp.cli.demo_story import Login
from webapp.kit import assets
from webapp.kit.clock import SECOND, FakeClock, parse_iso
from webapp.sandbox.app import create_sandbox
from webapp.sandbox.product.pages import Product as Example
from webapp.sandbox.product.server import Connect
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

NOW = parse_iso("2026-11-28T14:20:00Z")
WEBP_QUALITY = 55
SIZE = 1100, 680
SIZES = {"link": (1120, 720), "accounts": (1280, 640), "triggers": (1280, 640)}
"""In pixels, where a page needs another size to show what it is about."""

DEFAULT_ADDRESSES = """([url, sandbox]) => {
    const shown = (text) => text.replaceAll(sandbox, "localhost:8601").replaceAll(url, "localhost:8600");
    const walk = (root) => {
        const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) texts.currentNode.data = shown(texts.currentNode.data);
        for (const field of root.querySelectorAll("input, textarea"))
            if (field.value.includes("localhost")) field.value = shown(field.value);
    };
    walk(document.body);
}"""


@dataclass(frozen=True, slots=True)
class Stage:
    """What is served, who signs in there, and the page that is drawn."""

    settings: Settings
    login: Login
    page: Page

    def go(self, path: str) -> None:
        """Open a page of the dashboard."""
        self.page.goto(self.settings.public_url + path)

    def follow(self, pattern: str) -> None:
        """Follow the last link in the page whose address matches ``pattern``: what works stands below the rest."""
        addresses = self.page.locator("main a[href]").evaluate_all("links => links.map(link => link.href)")
        self.page.goto([address for address in addresses if re.search(pattern, address)][-1])


def _apps(stage: Stage) -> None:
    """Apps, without the checklist that it begins with."""
    stage.go("/apps")
    hide = stage.page.get_by_role("button", name="Hide", exact=True)
    if hide.count():
        hide.click()
        hide.wait_for(state="detached")
    stage.go("/apps?state=ready")


def _link(stage: Stage) -> None:
    """The Connect Link in the page of a product."""
    page = stage.page
    page.goto(f"{stage.settings.sandbox_url}/product")
    page.get_by_role("button", name="Connect in this page").click()
    frame = page.frame_locator("dialog iframe")
    frame.locator("html.ready").wait_for(state="attached")
    frame.get_by_role("link", name=re.compile("^Continue to")).first.wait_for()


def _trigger(stage: Stage) -> None:
    stage.go("/triggers")
    stage.follow(r"/triggers/dc_\w+$")


def _account(stage: Stage) -> None:
    stage.go("/accounts")
    stage.follow(r"/accounts/apn_\w+$")


def _embed(stage: Stage) -> None:
    """A token that was created, and the Link that it opens."""
    stage.go("/build/embed")
    stage.page.get_by_role("button", name="Create a token").click()
    stage.page.frame_locator("main iframe").get_by_role("heading").first.wait_for()


SCENES: dict[str, Callable[[Stage], None]] = {
    "apps": _apps,
    "app": lambda stage: stage.go("/apps/sandbox"),
    "link": _link,
    "accounts": lambda stage: stage.go("/accounts"),
    "account": _account,
    "action": lambda stage: stage.go("/apps/sandbox/actions/sandbox-create-task"),
    "triggers": lambda stage: stage.go("/triggers"),
    "trigger": _trigger,
    "logs": lambda stage: stage.go("/build/logs"),
    "agents": lambda stage: stage.go("/agents"),
    "integrations": lambda stage: stage.go("/build/integrations"),
    "embed": _embed,
    "keys": lambda stage: stage.go("/build/keys"),
    "usage": lambda stage: stage.go("/build/usage?days=30"),
}
"""How each picture's page comes to show what it shall."""


@contextmanager
def served(data: Path) -> Iterator[tuple[Settings, Login]]:
    """A demo at the fixed time, without the sentence that says that it is one."""
    port = free_port()
    ports = {"PATCHBAY_PORT": str(port), "PATCHBAY_SANDBOX_PORT": str(free_port())}
    settings, clock = Settings.from_env(ports, data=data), FakeClock(NOW)
    service = open_service(settings, clock)
    try:
        login = demo_story.tell(service, clock)
        with service.store.write() as tx:
            tx.run("DELETE FROM demo")
        connect = Connect(settings.public_url, *oauth_clients.example(service), "development")
        sandbox = create_sandbox(
            data / "sandbox", settings.sandbox_url, *oauth_apps.ensure_sandbox(service),
            [f"{settings.public_url}/connect/oauth/callback"], assets.templates_dir(), assets.static_dir(),
            example=Example(settings.public_url, connect), clock=clock,
        )  # fmt: skip
        web = create_app(settings, service=service, clock=clock)
        with serving(web, port=settings.port), serving(sandbox, port=settings.sandbox_port):
            yield settings, login
    finally:
        close_service(service)


@contextmanager
def signed_in(browser: Browser, settings: Settings, login: Login, theme: drawn.Theme) -> Iterator[BrowserContext]:
    """The owner's browser, in one theme."""
    context = browser.new_context(
        color_scheme=theme, reduced_motion="reduce", locale="en-GB",
        timezone_id="UTC",
    )  # fmt: skip
    context.clock.set_fixed_time(NOW / SECOND)
    page = context.new_page()
    page.goto(f"{settings.public_url}/sign-in")
    page.get_by_label("E-mail", exact=True).fill(login.email)
    page.get_by_label("Password", exact=True).fill(login.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Apps", exact=True, level=1).wait_for()
    yield context
    context.close()


def draw(page: Page, settings: Settings) -> bytes:
    """The page as it is now, as WebP."""
    page.wait_for_load_state("networkidle")
    hosts = [f"localhost:{settings.port}", f"localhost:{settings.sandbox_port}"]
    for frame in page.frames:
        frame.evaluate(DEFAULT_ADDRESSES, hosts)
    page.evaluate(AT_REST)
    page.evaluate("document.activeElement?.blur()")
    session = page.context.new_cdp_session(page)
    taken = session.send(
        "Page.captureScreenshot", {"format": "webp", "quality": WEBP_QUALITY, "optimizeForSpeed": False}
    )
    return base64.b64decode(taken["data"])


def main() -> None:
    """Draw what is stale, or everything."""
    parser = argparse.ArgumentParser(prog="python -m tests.pictures", description=main.__doc__)
    parser.add_argument("--all", action="store_true", help="also those that are newer than their templates")
    parser.add_argument("--only", nargs="*", default=[], help="these, whatever their age")
    chosen = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    names = list(chosen.only or (drawn.SOURCES if chosen.all else drawn.stale()))
    if not names:
        print("Every picture is newer than its templates.")
        return
    drawn.FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with served(Path(folder) / "data") as (settings, login):
            for theme, suffix in drawn.THEMES.items():
                with signed_in(browser, settings, login, theme) as context:
                    for name in names:
                        page = context.new_page()
                        width, height = SIZES.get(name, SIZE)
                        page.set_viewport_size({"width": width, "height": height})
                        SCENES[name](Stage(settings, login, page))
                        picture = draw(page, settings)
                        page.close()
                        (drawn.FOLDER / f"{name}{suffix}.webp").write_bytes(picture)
                        print(f"{name}{suffix}.webp: {len(picture):,} bytes")
                        if len(picture) > drawn.MOST_BYTES:
                            sys.exit(f"{name} is larger than {drawn.MOST_BYTES:,} bytes; show less of the page.")
        browser.close()
    drawn.record(names)


if __name__ == "__main__":
    main()
