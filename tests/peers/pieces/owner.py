"""Somebody who owns an installation with pieces and uses its pages in a browser."""

import re
from collections.abc import Callable
from typing import Any

from tests.fakes.pieces.bench import PieceBench
from webapp.people import sessions, users
from webapp.people.users import User

COOKIE = "patchbay_session"


def create(bench: PieceBench) -> User:
    """An owner, who has no accounts yet."""
    store, clock = bench.installation.service.store, bench.clock
    email = f"owner{len(users.all_users(store))}@example.com"
    return users.create(store, clock, email=email, password="a long password", role="owner")


def signed_in(bench: PieceBench, person: User) -> str:
    """The cookie of ``person``."""
    service = bench.installation.service
    return sessions.start(service.store, bench.clock, user_id=person.id, user_agent="", address="")


class Owner:
    """``page`` is what is open; ``id`` is whose accounts and triggers are shown."""

    def __init__(self, bench: PieceBench, contexts: Callable[..., Any], person: User, **options: Any) -> None:
        self.bench, self.id = bench, person.id
        context = contexts(**options)
        cookie = {"name": COOKIE, "value": signed_in(bench, person), "url": bench.installation.url}
        context.add_cookies([cookie])
        self.page = context.new_page()

    def open(self, path: str) -> None:
        self.page.goto(f"{self.bench.installation.url}{path}")

    def choose(self, label: str, *options: str, query: str = "") -> None:
        """Open the list of the field ``label``, search it, and choose what is called ``options``."""
        field = self.page.get_by_role("group", name=re.compile(rf"^{label}\b"))
        field.locator("summary").first.click()
        if query:
            searched = self.page.expect_response(lambda answer: f"={query}&" in (answer.request.post_data or ""))
            with searched:
                field.get_by_role("searchbox").fill(query)
        for option in options:
            field.get_by_label(option, exact=True).click()
        if field.locator("details.picker[open] input[type=checkbox]").count():
            self.page.keyboard.press("Escape")

    def field(self, label: str) -> Any:
        """The control of the field ``label``, which may be left empty or not."""
        return self.page.locator("#fields").get_by_label(re.compile(rf"^\s*{label}\s*(optional)?\s*$"))

    def fold_out(self) -> None:
        """Show the fields that may be left empty."""
        folded = self.page.locator("#optional-fields:not([open]) > summary")
        if folded.count():
            folded.click()
        for address in self.page.locator("#fields .manual:not([open]) > summary", has_text="address").all():
            address.click()

    def deploy(self, name: str, url: str) -> str:
        """Start watching, with events sent to ``url``; the key that signs them, as the page shows it once."""
        self.page.locator("#deploy-name").fill(name)
        self.page.locator("#deploy-url").fill(url)
        self.page.get_by_role("button", name="Start watching", exact=True).click()
        self.page.wait_for_url("**/triggers/dc_*")
        self.page.get_by_role("heading", name=name, level=1).wait_for()
        return str(self.page.locator("#new-key code").inner_text())

    def switch(self, name: str, *, on: bool) -> None:
        """Pause the trigger that is open, or resume it."""
        self.page.get_by_role("switch", name=f"Active: {name}").click()
        said = f"“{name}” is active again." if on else f"“{name}” is paused; nothing is sent."
        self.page.get_by_role("status").get_by_text(said).wait_for()

    def delete(self, name: str) -> None:
        """Delete the trigger that is open."""
        self.page.get_by_role("link", name="Delete…").click()
        self.page.get_by_role("button", name="Delete", exact=True).click()
        self.page.get_by_role("status").get_by_text(f"“{name}” is deleted.").wait_for()

    def run(self) -> Any:
        """Run the action that is filled in, once it is asked for; what came of it, as the page shows it."""
        self.page.get_by_role("button", name="Run action").first.click()
        dialog = self.page.get_by_role("dialog").filter(has_text="Run “")
        dialog.get_by_role("button", name="Run action").click()
        outcome = self.page.get_by_role("region", name="Outcome")
        outcome.get_by_text("Succeeded").wait_for()
        return outcome
