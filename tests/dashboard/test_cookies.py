"""The cookies of a browser: its session's token out of reach of scripts, its theme."""

from typing import Any

import pytest
from flask import Response

from webapp.dashboard import cookies


def test_a_token_is_given_and_taken_away(stage: Any) -> None:
    response = Response()
    with stage.request():
        cookies.write_token(response, "secret")
        cookies.drop_token(response)
    given, taken = response.headers.getlist("Set-Cookie")
    assert given.startswith("patchbay_session=secret;") and taken.startswith("patchbay_session=;")
    for part in ("HttpOnly", "SameSite=Lax", "Path=/"):
        assert part in given and part in taken


@pytest.mark.parametrize("theme", ["", "dark"])
def test_a_theme_is_kept(stage: Any, theme: str) -> None:
    response = Response()
    with stage.request(headers={"Cookie": f"theme={theme}"} if theme else {}):
        assert cookies.read_theme() == theme
        cookies.write_theme(response, "light")
    assert response.headers["Set-Cookie"].startswith("theme=light;")
