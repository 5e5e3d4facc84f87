import html
import re
from pathlib import Path
from typing import Any, cast

import pytest
from flask import Flask, g

from webapp.dashboard.build import menu
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.dashboard import Viewer
from webapp.errors import Conflict, Detail, Invalid
from webapp.kit import message_files, translation

FOLDER = Path(translation.__file__).parent.parent / "translations"


ALL = ["embed", "keys", "logs", "usage", "project", "apps", "integrations", "workflows", "people"]
NOT_OF_DEVELOPERS = {"apps", "integrations", "people"}
SEEN = {"owner": ALL, "developer": [noun for noun in ALL if noun not in NOT_OF_DEVELOPERS], "member": []}


@pytest.mark.parametrize("role", SEEN)
def test_a_role_meets_the_pages_of_its_menu_and_no_others(stage: Any, role: str) -> None:
    with stage.request():
        assert list(menu.seen_by(role)) == SEEN[role]
    app = Flask(__name__)
    app.before_request(lambda: setattr(g, "viewer", Viewer("u_1", role, cast(ConnectClient, None))))
    for noun in ALL:
        for build in (menu.blueprint(noun), menu.part_of(noun, "part", "/part")):
            build.get("")(lambda: "there")
            app.register_blueprint(build)
    visitor = app.test_client()
    for path in (f"{noun}{below}" for noun in ALL for below in ("", "/part")):
        seen = path.partition("/")[0] in SEEN[role]
        assert (path, visitor.get(f"/build/{path}").status_code) == (path, 200 if seen else 404)


def test_each_row_of_the_table_is_a_page(stage: Any) -> None:
    served = {rule.endpoint for rule in stage.app.url_map.iter_rules()}
    assert [noun for noun in menu.PAGES if f"dashboard.build_{noun}.page" not in served] == []


def test_a_page_of_build_is_english_as_a_whole_and_others_are_not(stage: Any) -> None:
    pairs = message_files.pairs([FOLDER / "de" / "pages.po"])
    german = set(pairs.values()) - set(pairs)
    browser = stage.signed_in()
    browser.send("/settings", {"theme": "auto", "time_zone": "Europe/Berlin", "language": "de"})
    page = browser.get("/accounts").text
    assert '<html lang="de"' in page and len(_texts(page) & german) > 5
    assert len(menu.PAGES) > 5
    for noun in menu.PAGES:
        answer = browser.get(f"/build/{noun}")
        page = (browser.get(answer.headers["Location"]) if "Location" in answer.headers else answer).text
        assert (noun, '<html lang="en"' in page, _texts(page) & german) == (noun, True, set())


def _texts(page: str) -> set[str]:
    """The texts between the tags of a page."""
    return {html.unescape(" ".join(text.split())) for text in re.findall(r">([^<]+)<", page)} - {""}


@pytest.mark.parametrize(
    ("error", "problems"),
    [
        (Invalid.of("name", "It is missing."), {"name": "It is missing."}),
        (Invalid("No.", [Detail("scopes.1", "Odd."), Detail("scopes.2", "Odd, too.")]), {"scopes": "Odd."}),
        (Invalid.of("cfmap.region", "Choose one."), {"cfmap.region": "Choose one."}),
        (Invalid("No.", [Detail("colour", "Not this one."), Detail("name", "Odd.")]),
         {"": "Not this one.", "name": "Odd."}),
        (Invalid("Not today."), {"": "Not today."}),
        (Conflict("It is in use."), {"": "It is in use."}),
    ],
)  # fmt: skip
def test_what_is_wrong_stands_at_its_field_or_for_the_whole(
    error: Invalid | Conflict, problems: dict[str, str]
) -> None:
    assert menu.by_field(error, ("name", "scopes", "cfmap.region")) == problems
