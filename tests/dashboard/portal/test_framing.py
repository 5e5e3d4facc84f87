"""Which sites may frame a portal: those of its token, and none if the token names none."""

from typing import Any


def test_the_origins_of_the_token_frame_it(world: Any) -> None:
    origins = ["https://app.acme.example", "https://desk.acme.example"]
    page = world.portal(allowed_origins=origins).get("/accounts")
    assert f"frame-ancestors {' '.join(origins)}" in page.headers["Content-Security-Policy"]


def test_without_origins_nothing_frames_it(world: Any) -> None:
    answer = world.open(world.token(allowed_origins=[]), **{"Sec-Fetch-Dest": "document"})
    page = world.client().get(answer.headers["Location"], base_url=world.public)
    assert page.status_code == 303 and "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
