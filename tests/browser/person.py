"""Somebody at a browser, who does what the pages of the dashboard, the Connect Link and the sandbox offer."""

import re
from typing import Any

PASSWORD = "three plain words here"
ONWARD = "Continue to Sandbox Tasks"


class Person:
    """``page`` is what is open; ``at`` says where the product and its sandbox are."""

    def __init__(self, page: Any, at: Any, *, scripts: bool = True) -> None:
        self.page, self.at, self.scripts = page, at, scripts

    def sign_up(self, start_url: str, email: str = "ada@example.com") -> None:
        self.page.goto(start_url)
        self.page.get_by_label("E-mail", exact=True).fill(email)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_label("Product name").fill("Acme Desk")
        self.page.get_by_label("Support e-mail").fill("help@acme.example")
        self.button("Create login").click()
        self.heading("Get started")
        self.page.get_by_role("link", name="Apps", exact=True).click()
        self.heading("Apps")

    def sign_in(self, email: str, password: str = PASSWORD) -> None:
        self.page.goto(f"{self.at.url}/sign-in")
        self.page.get_by_label("E-mail", exact=True).fill(email)
        self.page.get_by_label("Password", exact=True).fill(password)
        self.button("Sign in").click()
        self.page.wait_for_load_state()

    def choose(self, app: str) -> None:
        """From what is found among the apps to one's page, and on to its Connect Link."""
        self.page.goto(f"{self.at.url}/apps?q=sandbox+tasks")
        self.page.get_by_role("link", name=app, exact=True).click()
        self.heading(app)
        self.page.get_by_role("button", name=re.compile("^Connect")).click()

    def leave(self) -> Any:
        """To the provider: in a window of its own, or in this tab without JavaScript; the page to decide on."""
        if not self.scripts:
            self.page.get_by_role("link", name=ONWARD).locator("visible=true").first.click()
            return self.page
        with self.page.expect_popup() as opened:
            self.onward().click()
        return opened.value

    def onward(self) -> Any:
        """The link to the provider, once the script is ready that opens the window: a person is slower than it."""
        self.page.locator("html.ready").wait_for(state="attached")
        return self.page.get_by_role("link", name=ONWARD).locator("visible=true").first

    def connect_thrice(self) -> None:
        """Two people's accounts by sign-in and one by its key, in this tab."""
        for name in ("Ada Lovelace", "Grace Hopper"):
            self.choose("Sandbox Tasks")
            self.page.get_by_role("link", name="Stay in this tab instead").locator("visible=true").first.click()
            self.decide(self.page, "Allow", name)
            self.connected()
        self.choose("Sandbox Tasks (key)")
        self.send_key(self.working_key())
        self.connected()

    def decide(self, window: Any, button: str, person: str = "Ada Lovelace") -> None:
        window.get_by_text(person, exact=True).click()
        window.get_by_role("button", name=button, exact=True).click()

    def working_key(self) -> str:
        """A key as the sandbox shows it."""
        other = self.page.context.new_page()
        other.goto(f"{self.at.sandbox_url}/keys")
        key = str(other.locator("[data-key]").first.inner_text())
        other.close()
        return key

    def send_key(self, key: str) -> None:
        self.page.get_by_label("API key", exact=True).fill(key)
        self.button(re.compile("^Connect Sandbox Tasks")).click()

    def connected(self) -> None:
        """Where the Connect Link leads after a success."""
        self.page.wait_for_url("**/accounts/apn_*")
        self.page.get_by_text(re.compile("is connected")).wait_for()

    def accounts(self) -> list[str]:
        """The account list, as it reads."""
        self.page.goto(f"{self.at.url}/accounts")
        self.heading("Accounts")
        return [str(text) for text in self.page.locator("tbody tr th .row-link").all_inner_texts()]

    def heading(self, name: str) -> None:
        """On the page with this heading, of which everything has loaded: what is done next, its scripts hear of."""
        self.page.get_by_role("heading", name=name, exact=True, level=1).wait_for()
        self.page.wait_for_load_state()

    def button(self, name: Any) -> Any:
        return self.page.get_by_role("button", name=name)
