"""Files of runs over the API: kept when a stash is named, downloaded by key and by link, and nobody else's."""

import io
from typing import Any
from urllib.parse import urlsplit

import pytest

from webapp.kit.clock import DAY, MINUTE
from webapp.service.domain.components import file_stash
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene


def run(world: Any, token: str, *names: str, user: str = "alice", **more: Any) -> Any:
    props = {"names": list(names), **more.pop("props", {})}
    body = {"id": "~/writes", "external_user_id": user, "configured_props": props, **more}
    answer = world.post("P/actions/run", token, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json


def download(world: Any, s3_key: str, token: str | None = None, **more: Any) -> Any:
    return world.get("P/file_stash/download", token or world.server(), query_string={"s3_key": s3_key}, **more)


def test_what_is_no_stash_is_named(shared: Any) -> None:
    body = {"id": "~/writes", "external_user_id": "alice", "stash_id": 5}
    answer = shared.post("P/actions/run", shared.server(), json=body)
    assert (answer.status_code, [one["field"] for one in answer.json["details"]]) == (400, ["stash_id"])


@pytest.mark.parametrize("stash_id", ["NEW", True, ""])
def test_files_are_kept_when_a_stash_is_asked_for(world: Any, stash_id: Any) -> None:
    found = run(world, world.frontend(), "report.pdf", stash_id=stash_id)
    (upload,) = found["exports"]["$filestash_uploads"]
    assert upload["s3Key"].startswith(f"1day/{world.scene.project_id}/development/{found['stash_id']}/u/file_")
    assert upload["localPath"] == upload["path"] == "report.pdf"
    answer = download(world, upload["s3Key"])
    assert (answer.status_code, answer.data, answer.mimetype) == (200, b"xxx", "application/pdf")
    assert answer.headers["Content-Disposition"] == "attachment; filename=report.pdf"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("more", [{}, {"stash_id": None}, {"stash_id": False}])
def test_without_a_stash_nothing_is_kept(world: Any, more: Any) -> None:
    found = run(world, world.frontend(), "report.pdf", **more)
    assert set(found) == {"exports", "os", "ret"} and found["exports"] == {}
    assert world.service.store.all("SELECT * FROM stashed_files") == []


def test_a_stash_is_there_for_the_next_run_of_the_same_user(world: Any) -> None:
    server = world.server()
    stash_id = run(world, server, "a.txt", stash_id="NEW")["stash_id"]
    again = run(world, server, "b.txt", stash_id=stash_id)
    assert again["stash_id"] == stash_id and again["ret"] == ["a.txt"]
    assert [one["path"] for one in again["exports"]["$filestash_uploads"]] == ["b.txt"], "a.txt did not change"
    assert run(world, server, user="bob", stash_id=stash_id)["ret"] == []


def test_what_has_no_room_is_said(world: Any) -> None:
    props = {"size": file_stash.MAX_BYTES // 2}
    found = run(world, world.server(), "a.bin", "b.bin", "c.bin", props=props, stash_id="NEW")
    assert [one["path"] for one in found["exports"]["$filestash_uploads"]] == ["a.bin", "b.bin"]
    assert "c.bin" in found["os"][0]["msg"] and "was not kept" in found["os"][0]["msg"]


def test_a_bad_stash_id_is_refused_before_anything_runs(world: Any) -> None:
    body = {"id": "~/writes", "external_user_id": "alice", "configured_props": {"names": []}, "stash_id": "../x"}
    answer = world.post("P/actions/run", world.server(), json=body)
    assert answer.status_code == 400 and answer.json["details"][0]["field"] == "stash_id"


def test_a_link_needs_no_token_for_half_an_hour(world: Any) -> None:
    (upload,) = run(world, world.frontend(), "é.txt", stash_id="NEW")["exports"]["$filestash_uploads"]
    path = urlsplit(upload["get_url"]).path
    answer = world.get(path)
    assert (answer.status_code, answer.data) == (200, b"xxx")
    assert "filename*=UTF-8''%C3%A9.txt" in answer.headers["Content-Disposition"]
    assert world.get(path[:-1]).status_code == 404
    world.clock.advance(30 * MINUTE)
    assert world.get(path).status_code == 404
    assert download(world, upload["s3Key"]).status_code == 200
    world.clock.advance(DAY)
    assert download(world, upload["s3Key"]).status_code == 404
    assert file_stash.purge(world.service) == 1


def test_another_projects_and_environments_files_are_like_absent_ones(world: Any) -> None:
    (upload,) = run(world, world.server(), "a.txt", stash_id="NEW")["exports"]["$filestash_uploads"]
    other = Scene(projects.create(world.service, name="Other").id, "development")
    path = f"/v1/connect/{other.project_id}/file_stash/download"
    query, headers = {"s3_key": upload["s3Key"]}, {"x-pd-environment": "development"}
    answers = [
        download(world, upload["s3Key"], env="production"),
        world.get(path, world.server(), query_string=query, headers=headers),
        download(world, upload["s3Key"] + "x"),
        download(world, "1day/a/b/c/u/d"),
    ]
    assert {(one.status_code, one.data) for one in answers} == {(404, answers[0].data)}
    assert download(world, upload["s3Key"], world.frontend()).status_code == 403


def test_the_history_of_runs_keeps_no_link(world: Any) -> None:
    run(world, world.server(), "a.txt", stash_id="NEW")
    (item,) = world.get("P/runs", world.server()).json["data"]
    assert "get_url" not in world.get(f"P/runs/{item['id']}", world.server()).text


def upload(world: Any, token: str, content: bytes = b"hello", **more: Any) -> Any:
    query = {"name": "a.txt", **more.pop("query", {})}
    more = {"data": content, "content_type": "application/octet-stream", **more}
    return world.post("P/file_stash", token, query_string=query, **more)


def rows(world: Any) -> int:
    return len(world.service.store.all("SELECT id FROM stashed_files"))


def test_a_file_is_uploaded_given_to_a_run_and_deleted(world: Any) -> None:
    token = world.frontend()
    sent = upload(world, token, query={"name": "../é.txt"})
    assert sent.status_code == 200, sent.text
    file = sent.json
    assert (file["name"], file["content_type"], file["size"], file["external_user_id"]) == (
        "é.txt", "text/plain", 5, "alice",
    )  # fmt: skip
    answer = world.get(urlsplit(file["get_url"]).path)
    assert (answer.data, answer.headers["X-Content-Type-Options"]) == (b"hello", "nosniff")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    body = {"id": "~/measures", "external_user_id": "alice", "configured_props": {"file": file["s3_key"]}}
    ran = world.post("P/actions/run", token, json=body).json
    assert ran["ret"] == [{"place": "/tmp/é.txt", "size": 5}]
    assert world.get(f"P/file_stash/{file['id']}", token).json["s3_key"] == file["s3_key"]
    assert world.call("DELETE", f"P/file_stash/{file['id']}", token).status_code == 204
    assert world.get(f"P/file_stash/{file['id']}", token).status_code == 404
    assert rows(world) == 0
    refused = world.post("P/actions/run", token, json=body)
    assert (refused.status_code, refused.json["details"][0]["field"]) == (400, "configured_props.file")


@pytest.mark.parametrize("as_form", [False, True])
def test_up_to_ten_mebibytes_pass_and_no_more(world: Any, as_form: bool) -> None:
    def send(size: int) -> Any:
        if not as_form:
            return upload(world, world.frontend(), bytes(size))
        head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n'
        body, media_type = head + bytes(size) + b"\r\n--x--\r\n", "multipart/form-data; boundary=x"
        return world.post("P/file_stash", world.frontend(), data=body, content_type=media_type)

    for size in (9_000_000, file_stash.MAX_BYTES):
        assert send(size).json["size"] == size
    for size in (file_stash.MAX_BYTES + 1, 11_000_000):
        answer = send(size)
        assert answer.status_code == 413 and "larger than 10 MiB" in answer.json["error"]
    assert rows(world) == 2


def test_what_is_no_file_is_a_sentence_and_nothing_is_kept(world: Any) -> None:
    token, form = world.frontend(), {"content_type": "multipart/form-data"}
    empty = upload(world, token, b"")
    assert (empty.status_code, "The file is empty" in empty.json["error"]) == (400, True)
    none = world.post("P/file_stash", token, data={"file": "a text"}, **form)
    two = {"file": [(io.BytesIO(b"a"), "a"), (io.BytesIO(b"b"), "b")]}
    several = world.post("P/file_stash", token, data=two, **form)
    assert {one.status_code for one in (none, several)} == {400} and "exactly one file" in several.json["error"]
    bad = upload(world, token, query={"stash_id": "../x"})
    assert (bad.status_code, bad.json["details"][0]["field"]) == (400, "stash_id")
    nobody = upload(world, world.server())
    assert (nobody.status_code, nobody.json["details"][0]["field"]) == (400, "external_user_id")
    other = upload(world, token, query={"external_user_id": "bob"})
    assert other.status_code == 403
    assert rows(world) == 0


def test_a_users_files_are_nobody_elses(world: Any) -> None:
    file = upload(world, world.server(), query={"external_user_id": "alice"}).json
    path, bob = f"P/file_stash/{file['id']}", world.frontend(user="bob")
    absent = world.get("P/file_stash/file_nobody", bob)
    for answer in (
        world.get(path, bob),
        world.call("DELETE", path, bob),
        world.get(path, world.server(), env="production"),
    ):
        assert (answer.status_code, answer.data) == (404, absent.data)
    assert world.get(path, world.frontend()).status_code == 200


def test_an_announced_file_is_taken_once_without_a_token(world: Any) -> None:
    announced = file_stash.announce(world.scene, "alice", "report.pdf")
    path = urlsplit(file_stash.upload_link(world.service, announced)).path
    sent = world.post(path, data=b"%PDF", content_type="text/html")
    assert (sent.status_code, sent.json["id"], sent.json["content_type"]) == (200, announced.id, "application/pdf")
    assert world.post(path, data=b"%PDF").status_code == 409
    assert world.post(path[:-1], data=b"%PDF").status_code == 404
    assert rows(world) == 1
