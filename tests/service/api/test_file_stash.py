"""Files of runs over the API: kept when a stash is named, downloaded by key and by link, and nobody else's."""

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
