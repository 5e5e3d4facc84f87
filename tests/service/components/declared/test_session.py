"""One call: its values, where its requests may go, files that it is given, and its time."""

import base64

import pytest

from tests.service.catalog.components.providers.app_harness import FakeAnswer
from tests.service.components.declared.conftest import HEAD, TOKEN, Desk
from webapp.kit.cancellation import Cancellation, cancelling
from webapp.service.components.calls import Call

TITLE = '[props.title]\ntype = "string"\nlabel = "Title"\npattern = "[a-z]+"\nadvice = "Write it in lower case."\n'
POST = '[request]\nmethod = "POST"\nurl = "/notes"\n'


def test_a_value_has_to_match_its_pattern(desk: Desk) -> None:
    desk.on("POST /notes", {"id": 1})
    assert desk.refuses(f"{TITLE}{POST}", title="Tea") == "Write it in lower case."
    assert desk.refuses(f"{TITLE}{POST}", title=" ") == "Write it in lower case."
    assert desk.run(f"{TITLE}optional = true\n{POST}", title="") == {"id": 1}
    assert desk.run(f"{TITLE}{POST}", title="tea") == {"id": 1}


def test_no_request_leaves_the_app(desk: Desk) -> None:
    said = desk.refuses('[request]\nurl = "https://elsewhere.example/notes"')
    assert said == "elsewhere.example is not an address of this app, so nothing is sent there."
    assert "is not an address" in desk.refuses(
        "[request]\nurl = \"{$account.team|replace('red', 'https://x.example')}\""
    )
    assert desk.provider.asked == []


def test_the_secrets_of_an_account_are_not_to_be_had(desk: Desk) -> None:
    desk.on("GET /notes", {"id": 1})
    reply = desk.call('[request]\nurl = "/notes"\n[exports]\nteam = "{$account.team}"\ntoken = "{$account.token}"')
    assert (reply.exports["team"], reply.exports["token"]) == ("red", None)


def test_files_that_go_in(desk: Desk) -> None:
    desk.on("POST /notes", {"id": 1})
    file = '[props.photo]\ntype = "string"\nlabel = "Photo"\nformat = "file-ref"\n' + POST + 'file = "{photo}"\n'
    stashed = {"a.png": base64.b64encode(b"PNG").decode()}
    reply = desk.call(file, props={"photo": "/tmp/a.png"}, files=stashed)
    assert (reply.error, desk.last.body, desk.last.headers["content-type"]) == (
        None,
        b"PNG",
        "application/octet-stream",
    )
    assert "There is no file b.png" in desk.refuses(file, photo="b.png")

    desk.on("GET /photos/c.png", lambda asked: {"unexpected": asked.headers})
    desk.provider.headers = {}
    desk.call(file, props={"photo": f"http://{desk.host}/api/photos/c.png"})
    assert "authorization" not in desk.provider.asked[-2].headers
    assert b"unexpected" in desk.last.body


def test_a_call_ends_at_its_deadline(desk: Desk) -> None:
    desk.on("GET /notes", {"id": 1})
    reply = desk.call('[request]\nurl = "/notes"', deadline_s=0.1)
    assert reply.error is not None
    assert (reply.error.kind, reply.error.message[:38]) == ("timeout", "The component was still working after ")
    assert desk.provider.asked == []


def test_what_is_logged_of_a_call_is_masked(desk: Desk) -> None:
    desk.on("GET /notes", FakeAnswer(400, {"error": f"The token {TOKEN} is wrong."}))
    assert TOKEN not in desk.refuses('[request]\nurl = "/notes"')


def test_files_that_go_in_are_bounded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.components.limits.STASH_BYTES", 5)
    desk.provider.headers = {}
    desk.on("GET /photos/a.png", b"1234")
    desk.on("POST /notes", {"id": 1})
    address = f"http://{desk.host}/api/photos/a.png"
    part = '[request.multipart]\na = { file = "{photo}" }\n'
    photo = '[props.photo]\ntype = "string"\nlabel = "Photo"\nformat = "file-ref"\n' + POST
    assert desk.run(photo + part, photo=address) == {"id": 1}
    said = desk.refuses(photo + part + 'b = { file = "{photo}" }\n', photo=address)
    assert said == "The file has 4 bytes, which is too much. Ask for a smaller one."


OPEN = """
[props.site]
type = "string"
label = "Site"

[props.key]
type = "string"
label = "Key"
secret = true

[request]
url = "{site}/notes"
headers = { X-Key = "{key}" }
pages = { by = "link" }
"""


@pytest.mark.parametrize(("led", "reached"), [("/api/more", True), ("http://other.localhost:{port}/api/more", False)])
def test_pages_without_an_account_stay_where_they_began(desk: Desk, led: str, reached: bool) -> None:
    desk.provider.headers = {}
    port = desk.host.rpartition(":")[2]
    desk.on("GET /notes", FakeAnswer(200, [{"id": 1}], {"Link": f'<{led.format(port=port)}>; rel="next"'}))
    desk.provider.answers["GET /more"] = [{"id": 2}]
    path = desk.write("")
    path.write_text(HEAD + OPEN, "utf-8")
    props = {"key": "k", "site": f"http://{desk.host}/api"}
    allowed = (desk.host, f"other.localhost:{port}")
    reply = desk.interpreter.call(Call(str(path), props=props, allow_hosts=allowed))
    if reached:
        assert (reply.error, reply.value) == (None, [{"id": 1}, {"id": 2}])
    else:
        assert reply.error is not None
        assert reply.error.message.startswith(f"other.localhost:{port} is not an address of this app")
        assert len(desk.provider.asked) == 1


def test_a_call_that_nobody_wants_any_more_sends_nothing_more(desk: Desk) -> None:
    work = Cancellation()
    work.request()
    with cancelling(work):
        reply = desk.call('[request]\nurl = "/notes"')
    assert reply.error is not None and desk.provider.asked == []
