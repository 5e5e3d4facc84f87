"""What pages of products load: from any origin, small, and the same in each form."""

import gzip
import re
from typing import Any

import pytest

from webapp.kit import assets
from webapp.service.link import embed_scripts

FORMS = ("embed.js", "embed.mjs", "embed.d.ts")


@pytest.mark.parametrize("name", FORMS)
def test_any_page_may_load_it_and_ask_whether_it_changed(browser: Any, name: str) -> None:
    answer = browser.get(f"/{name}", origin="https://anybody.example", accept_encoding="gzip")
    assert answer.status_code == 200 and "Set-Cookie" not in answer.headers
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.headers["Cache-Control"].startswith("public, max-age=3600")
    again = browser.get(f"/{name}", if_none_match=answer.headers["ETag"], accept_encoding="gzip")
    assert again.status_code == 304 and again.data == b""
    assert gzip.decompress(answer.data).decode() == embed_scripts.text_of(name, "http://localhost:8600")
    assert browser.get(f"/{name}").data.decode() == embed_scripts.text_of(name, "http://localhost:8600")


@pytest.mark.parametrize("name", FORMS)
def test_each_is_small(name: str) -> None:
    assert len(gzip.compress(embed_scripts.text_of(name, "https://connect.example.com").encode())) <= 4096


def test_both_forms_are_made_of_one_source() -> None:
    classic, module = (embed_scripts.text_of(name, "https://connect.example.com") for name in FORMS[:2])
    source = module.removesuffix(
        'export const { connect, portal, returned } = create("https://connect.example.com");\n'
    )
    assert source != module and source in classic
    assert 'window.Patchbay = create("https://connect.example.com");' in classic and "/*" not in classic


def test_the_types_name_every_option() -> None:
    source, types = (
        (assets.static_dir() / path).read_text(encoding="utf-8") for path in (embed_scripts.SOURCE, embed_scripts.TYPES)
    )
    functions = re.search(r"return { ([\w, ]+) };\n};\n$", source)
    assert functions
    assert set(functions[1].split(", ")) == set(re.findall(r"export function (\w+)", types))
    used = set(re.findall(r"options\.(\w+)", source))
    for group in re.findall(r"const { ([\w, ]+) } = options;", source):
        used |= set(group.split(", "))
    options = set(re.findall(r"^  (\w+)\??:", types, re.MULTILINE)) - {"code", "frame", "token"}
    assert used == options
