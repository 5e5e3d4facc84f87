"""From a mail about an account that needs its person to an account that works, in a browser without a login."""

import email
import os
import re
from collections.abc import Callable
from dataclasses import replace
from email import policy
from pathlib import Path
from typing import Any

import pytest

from tests.browser.person import PASSWORD, Person
from tests.fakes.smtp_server import MailServer
from tests.fakes.socket_server import serving
from webapp.people import preferences, users
from webapp.people.users import User
from webapp.service.domain.accounts import account_state
from webapp.service.domain.instance import reconnect_mails
from webapp.setting_values import SmtpServer

pytestmark = pytest.mark.browser

ME = "mailed@example.com"
LINK = re.compile(r"http://\S+/connect/reconnect\?token=\S+")


def mail_to(product: Any, person: User) -> tuple[str, str]:
    """The text and the HTML of the mail about this person's accounts."""
    with serving(MailServer("", "")) as server:
        settings = replace(
            product.service.settings,
            smtp_url=SmtpServer("127.0.0.1", server.port, "", "", "none"),
            smtp_from="Acme <accounts@acme.example>",
        )
        outcome = reconnect_mails.send_to(replace(product.service, settings=settings), person.id)
    assert outcome is not None
    assert outcome.kind == "sent"
    mail = email.message_from_bytes(server.mails[0], policy=policy.default)
    plain, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert plain is not None
    assert html is not None
    return plain.get_content(), html.get_content()


def look(page: Any, axe: Any, name: str) -> None:
    """The page by axe, light, dark and on a phone; a picture of each where PICTURES names a folder."""
    for scheme, width in (("light", 1000), ("dark", 1000), ("light", 360)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert axe(page, colours=scheme == "dark") == [], (name, scheme, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if folder := os.environ.get("PICTURES"):
            page.screenshot(path=str(Path(folder) / f"{name}-{scheme}-{width}.png"), full_page=True)


def test_from_the_mail_to_a_working_account(product: Any, contexts: Callable[..., Any], axe: Any) -> None:
    service = product.service
    person = users.create(service.store, service.clock, email=ME, password=PASSWORD, role="member")
    ada = Person(contexts().new_page(), product)
    ada.sign_in(ME)
    ada.choose("Sandbox Tasks")
    ada.decide(ada.leave(), "Allow")
    ada.connected()
    (account,) = product.accounts(person.id)
    account_state.mark_dead(service, account, "Sandbox Tasks withdrew the access.")
    with service.store.write() as tx:
        tx.run("UPDATE accounts SET updated_at = updated_at - 3600000 WHERE id = :id", {"id": account.id})
    plain, html = mail_to(product, person)

    elsewhere = Person(contexts(reduced_motion="reduce").new_page(), product)
    page = elsewhere.page
    page.set_content(html)
    look(page, axe, "mail")
    (link,) = LINK.findall(plain)
    assert page.get_by_role("link", name="Reconnect").get_attribute("href") == link

    page.goto(link)
    elsewhere.heading("Reconnect your accounts")
    look(page, axe, "reconnect")
    page.get_by_role("button", name="Reconnect Sandbox Tasks").click()
    elsewhere.heading("Reconnect your Sandbox Tasks account")
    assert "token" not in page.url
    elsewhere.decide(elsewhere.leave(), "Deny")
    page.get_by_role("link", name=re.compile("^Back to")).click()
    page.get_by_text("You cancelled").wait_for()
    page.get_by_role("button", name="Reconnect Sandbox Tasks").click()
    elsewhere.decide(elsewhere.leave(), "Allow")
    elsewhere.heading("Nothing needs you any more")
    assert product.accounts(person.id)[0].healthy
    look(page, axe, "done")
    page.goto(link)
    elsewhere.heading("This link was already used")
    look(page, axe, "used")

    (stop,) = re.findall(r"http://\S+/connect/mails/stop\?token=\S+", plain)
    page.goto(stop)
    elsewhere.heading("Stop these mails?")
    look(page, axe, "stop")
    page.get_by_role("button", name="Stop these mails").click()
    elsewhere.heading("These mails are stopped")
    assert not preferences.of_user(service.store, person.id).reconnect_mails
