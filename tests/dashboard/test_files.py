"""Downloads of files: a redirect to a link of the service, for their own user."""

from typing import Any

from tests.dashboard.fake_components import install


def test_a_file_leads_to_its_newest_link(stage: Any) -> None:
    studio = install(stage.connect)
    studio.files["file_1"] = ("a.pdf", b"x")
    browser = stage.signed_in()
    answer = browser.get("/files/file_1")
    assert (answer.status_code, answer.location) == (302, f"{stage.connect.public}/v1/files/t")
    assert answer.headers["Cache-Control"] == "no-store"
    assert browser.get("/files/file_2").status_code == 404
