import html
import re
from pathlib import Path
from typing import Any, cast

import pytest
from flask import Flask, g, request

from webapp.dashboard.build import menu
from webapp.dashboard.build.menu import BuildPage
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.dashboard import Viewer
from webapp.errors import Conflict, Detail, Invalid
from webapp.kit import message_files, translation
from webapp.people.roles import DEVELOPERS, OWNERS

FOLDER = Path(translation.__file__).parent.parent / "translations"


@pytest.mark.parametrize(
    ("roles", "statuses"),
    [(DEVELOPERS, {"owner": 200, "developer": 200, "member": 404}), (OWNERS, {"owner": 200, "developer": 404})],
)
def test_other_roles_meet_nothing(roles: Any, statuses: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(menu, "PAGES", {})
    app, lamps = Flask(__name__), menu.blueprint("lamps", BuildPage("key", 1, roles))
    app.before_request(lambda: setattr(g, "viewer", Viewer("u_1", request.args["role"], cast(ConnectClient, None))))
    lamps.get("")(lambda: "lit")
    app.register_blueprint(lamps)
    seen = {role: app.test_client().get("/build/lamps", query_string={"role": role}).status_code for role in statuses}
    assert seen == statuses


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
