"""The ten minutes of the manual's page about embedding, as printed: its server, in both languages, and its page."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import need
from tests.browser.embed.test_embed import GO, sign_in_from_the_frame
from tests.browser.test_link import allow
from tests.fakes.ports import free_port
from tests.manual.documents import fences, text_of
from webapp.service.domain.access import oauth_clients

pytestmark = [pytest.mark.browser, pytest.mark.whole_chromium]
SERVERS = {"python": ("server.py", [sys.executable]), "javascript": ("server.mjs", ["node"])}


def printed(language: str, word: str) -> str:
    """The first block of code in ``language`` that holds ``word``."""
    return next(code for code in fences(text_of("embed"), language) if word in code)


@contextmanager
def products_server(product: Any, folder: Path, language: str) -> Iterator[str]:
    """The printed server, run in ``folder`` with its files; the address of its page."""
    name, command = SERVERS[language]
    need(shutil.which(command[0]) is not None, f"there is no {command[0]}")
    port = str(free_port())
    client, secret = oauth_clients.scripted(product.service)
    setup = {"project_id": product.project.id, "client_id": client.id, "client_secret": secret}
    files = {name: printed(language, "createServer" if language == "javascript" else "do_POST")}
    files |= {"page.html": printed("html", "<script"), "patchbay.json": json.dumps({**setup, "base_url": product.url})}
    for file, text in files.items():
        text = text.replace("3000", port).replace("user-42", folder.name) if file == name else text
        (folder / file).write_text(text.replace("http://localhost:8600", product.url))
    server = subprocess.Popen([*command, name], cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("localhost", int(port))) == 0:
                    break
            time.sleep(0.1)
        yield f"http://localhost:{port}/"
    finally:
        server.terminate()
        server.communicate(timeout=10)


@pytest.mark.parametrize("language", SERVERS)
def test_the_printed_page_and_server_connect_an_account(page: Any, product: Any, tmp_path: Path, language: str) -> None:
    with products_server(product, tmp_path, language) as url:
        page.goto(url)
        page.get_by_role("button", name="Connect Sandbox Tasks").click()
        page.frame_locator("iframe").get_by_role("button", name="Close").click()
        page.get_by_role("status").get_by_text("Nothing was connected.").wait_for()
        page.get_by_role("button", name="Connect Sandbox Tasks").click()
        sign_in_from_the_frame(page)
        page.get_by_role("status").get_by_text("Connected: apn_").wait_for()
        connected = {account.id for account in product.accounts(tmp_path.name)}
        assert page.get_by_role("status").inner_text().removeprefix("Connected: ") in connected


def test_the_printed_ways_of_the_window_the_tab_and_the_module(page: Any, product: Any, tmp_path: Path) -> None:
    with products_server(product, tmp_path, "python") as url:
        file = tmp_path / "page.html"
        whole = file.read_text()
        assert 'mode: "popup"' in text_of("embed") and 'mode: "redirect"' in text_of("embed")
        file.write_text(whole.replace('app: "sandbox"', 'app: "sandbox", mode: "popup"'))
        page.goto(url)
        with page.expect_popup() as opened:
            page.get_by_role("button", name="Connect Sandbox Tasks").click()
        opened.value.get_by_role("link", name=GO).first.click()
        allow(opened.value, "Grace Hopper")
        page.get_by_role("status").get_by_text("Connected: apn_").wait_for()

        back = f"console.log = (...said) => say(said.join(' '));{printed('javascript', 'returned()')}"
        same_tab = whole.replace('app: "sandbox"', 'app: "sandbox", mode: "redirect"')
        file.write_text(same_tab.replace("  const token", f"{back}  const token"))
        page.goto(url)
        page.get_by_role("button", name="Connect Sandbox Tasks").click()
        page.get_by_role("link", name=GO).first.click()
        allow(page, "Ada Lovelace")
        page.get_by_role("status").get_by_text("connected apn_").wait_for()

        module = printed("javascript", "embed.mjs").replace("http://localhost:8600", product.url)
        shown = f'{module} document.querySelector("p").textContent = typeof connect'
        file.write_text(f'<!doctype html><p role="status"></p><script type="module">{shown}</script>')
        page.goto(url)
        page.get_by_role("status").get_by_text("function").wait_for()
