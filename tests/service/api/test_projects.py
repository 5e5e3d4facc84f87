"""Projects over the API: the list, one of them, the info call with and without the project in the path; making,
changing and removing them, and their logos.
"""

import base64
import io
from typing import Any

import pytest

from tests.once import stores
from webapp import audit
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.projects import project_logos, projects, usage
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers

ALL = "/v1/connect/projects"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(20)
IMAGES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(20),
    "image/gif": b"GIF89a" + bytes(20),
    "image/webp": b"RIFF\x10\x00\x00\x00WEBPVP8 " + bytes(20),
}


def test_the_list(world: Any) -> None:
    other = projects.create(world.service, name="Other")
    mine = projects.get(world.service.store, world.scene.project_id)
    answer = world.get("/v1/connect/projects", world.server()).json
    assert {one["id"] for one in answer["data"]} == {mine.id, other.id}
    assert mine.id.startswith("proj_")
    assert {
        "id": mine.id, "name": "Acme", "app_name": "Acme App", "support_email": "help@acme.example",
        "connect_require_key_auth_test": True,
    } in answer["data"]  # fmt: skip
    assert set(answer["data"][0]) == {"id", "name", "app_name", "support_email", "connect_require_key_auth_test"}
    assert answer["page_info"]["total_count"] == 2
    for query in ("OTHER", "the"):
        found = world.get(f"/v1/connect/projects?q={query}", world.server()).json
        assert [one["id"] for one in found["data"]] == [other.id]
    doctors = projects.create(world.service, name="Ärzte")
    for query in ("ärzte", "ÄRZT", "arzte"):
        found = world.get(f"/v1/connect/projects?q={query}", world.server()).json
        assert [one["id"] for one in found["data"]] == [doctors.id], query
    first = world.get("/v1/connect/projects?limit=1", world.server()).json
    second = world.get(f"/v1/connect/projects?limit=1&after={first['page_info']['end_cursor']}", world.server()).json
    assert len(first["data"]) == len(second["data"]) == 1 and first["data"] != second["data"]


def test_what_was_done_at_least_once_in_a_project(world: Any) -> None:
    bound = world.server(project_id=world.scene.project_id)

    def done(token: str, **more: Any) -> set[str]:
        answer = world.get("P/progress", token, **more)
        assert answer.status_code == 200, answer.text
        return {name for name, is_done in answer.json["data"].items() if is_done}

    assert done(bound) == {"client"} == done(bound, env="production"), "in either environment"
    account = world.plant()
    assert world.call("DELETE", f"P/accounts/{account.id}", bound).status_code == 204
    with world.service.store.write() as tx:
        usage.add(tx, Scene(world.scene.project_id, "production"), "run", world.clock())
    oauth_apps.add(world.service, app="github", client_id="i", client_secret="s", project_id=world.scene.project_id)
    assert done(bound) == {"client", "account", "run", "oauth_app"}, "what was deleted counts"
    with world.service.store.write() as tx:
        audit.write(tx, world.clock(), "trigger", "dc_1", "deployed", "Deployed.", project=world.scene.project_id)
    assert done(bound) == {"client", "account", "run", "oauth_app", "trigger"}, "also what has no environment"
    oauth_clients.flush_uses(world.service)
    assert "call" not in done(bound), "only this one has called"
    assert "call" in done(world.server()), "the one before"
    other = projects.create(world.service, name="Other")
    path, headers = f"/v1/connect/{other.id}/progress", {"x-pd-environment": "production"}
    answer = world.get(path, world.server(project_id=other.id), headers=headers)
    assert {name for name, is_done in answer.json["data"].items() if is_done} == {"client"}
    assert world.get("P/progress", world.frontend()).status_code == 403


def test_a_client_of_one_project_sees_that_one(world: Any) -> None:
    other = projects.create(world.service, name="Other")
    token = world.server(project_id=other.id)
    assert [one["id"] for one in world.get("/v1/connect/projects", token).json["data"]] == [other.id]
    assert world.get(f"/v1/connect/projects/{other.id}", token).json == other.to_json()
    theirs = world.get(f"/v1/connect/projects/{world.scene.project_id}", token)
    absent = world.get("/v1/connect/projects/proj_none", token)
    assert theirs.status_code == 404 and theirs.data == absent.data


def test_no_environment_is_needed_where_none_is_meant(world: Any) -> None:
    assert world.get("/v1/connect/projects", world.server()).status_code == 200
    assert world.get("/v1/connect/apps", world.server()).status_code == 200


def test_info_names_the_apps_with_an_own_client(world: Any) -> None:
    app = world.service.catalog.app("tinyoauth")
    oauth_apps.add(world.service, app="tinyoauth", client_id="op", client_secret="s")
    assert world.get("P/projects/info", world.server()).json == {"apps": []}
    for name in ("gone", "tinyoauth", "tinyoauth"):
        oauth_apps.add(world.service, app=name, client_id="c", client_secret="s", project_id=world.scene.project_id)
    expected = {"apps": [{"id": app.id, "name_slug": "tinyoauth"}]}
    assert world.get("P/projects/info", world.server()).json == expected
    assert world.get("/v1/connect/projects/info", world.frontend()).json == expected
    assert world.get("P/projects/info", world.frontend()).json == expected
    assert world.get("/v1/connect/projects/info", world.server()).status_code == 404


def uri(image: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(image).decode()}"


def test_a_project_is_made_changed_and_found(world: Any) -> None:
    server = world.server("connect:projects:write connect:projects:read")
    made = world.post(ALL, server, json={"name": " Shop ", "support_email": "help@shop.example"})
    assert made.status_code == 200
    assert made.json == {
        "id": made.json["id"], "name": "Shop", "app_name": "Shop", "support_email": "help@shop.example",
        "connect_require_key_auth_test": True,
    }  # fmt: skip
    one = f"{ALL}/{made.json['id']}"
    changes = {"app_name": "The Shop", "connect_require_key_auth_test": False, "name": None}
    changed = world.call("PATCH", one, server, json=changes)
    assert changed.json == made.json | {"app_name": "The Shop", "connect_require_key_auth_test": False}
    assert world.get(one, server).json == changed.json
    assert world.post(f"/v1/connect/{made.json['id']}/tokens", world.server(), json={"external_user_id": "a"},
                      headers={"x-pd-environment": "production"}).status_code == 200  # fmt: skip


def test_a_projects_brand_is_an_extension(world: Any) -> None:
    server = world.server()
    mine = f"{ALL}/{world.scene.project_id}"
    plain = world.get(mine, server).json
    asked = {"query_string": {"extensions": "true"}}
    assert world.get(mine, server, **asked).json == plain | {"brand_hue": 264, "logo_url": ""}
    changed = world.call("PATCH", mine, server, json={"brand_hue": 0}, **asked)
    assert changed.json == plain | {"brand_hue": 0, "logo_url": ""}
    assert world.call("PATCH", mine, server, json={"app_name": "Acme App"}).json == plain
    with_logo = world.post(f"{mine}/logo", server, json={"logo": uri(PNG)}, **asked).json
    assert with_logo["logo_url"].startswith(f"http://localhost:8600{mine}/logo?v=")
    (listed,) = world.get(ALL, server, **asked).json["data"]
    assert listed == with_logo
    made = world.post(ALL, server, json={"name": "Shop", "brand_hue": 360}, **asked).json
    assert made["brand_hue"] == 360


@pytest.mark.parametrize("hue", [-1, 361, 1.5, "264", True])
def test_a_colour_that_there_is_not_is_refused(shared: Any, hue: Any) -> None:
    mine = f"{ALL}/{shared.scene.project_id}"
    answer = shared.call("PATCH", mine, shared.server(), json={"brand_hue": hue})
    assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "brand_hue")


@pytest.mark.parametrize(
    "field, value",
    [
        ("name", ""), ("name", "x" * 101), ("name", "a\nb"), ("app_name", " \t"), ("support_email", "nobody"),
        ("support_email", "help@"), ("support_email", "@shop.example"), ("support_email", "a b@shop.example"),
    ],
)  # fmt: skip
def test_what_is_no_project_is_refused(shared: Any, field: str, value: str) -> None:
    server = shared.server()
    bad = {"name": "Shop"} | {field: value}
    if value.strip():
        answer = shared.post(ALL, server, json=bad)
        assert (answer.status_code, answer.json["details"][0]["field"]) == (400, field)
    answer = shared.call("PATCH", f"{ALL}/{shared.scene.project_id}", server, json={field: value})
    assert (answer.status_code, answer.json["details"][0]["field"]) == (400, field)


def test_a_client_of_one_project_has_that_one_only(world: Any) -> None:
    other = projects.create(world.service, name="Other")
    token = world.server(project_id=other.id)
    assert world.post(ALL, token, json={"name": "More"}).status_code == 403
    mine = f"{ALL}/{world.scene.project_id}"
    absent = world.call("DELETE", f"{ALL}/proj_none", token)
    for answer in (world.call("PATCH", mine, token, json={"name": "x"}), world.call("DELETE", mine, token)):
        assert (answer.status_code, answer.data) == (404, absent.data)
    assert world.call("PATCH", f"{ALL}/{other.id}", token, json={"name": "Mine"}).json["name"] == "Mine"


def test_removing_a_project_leaves_nothing_of_it(world: Any) -> None:
    server, project_id = world.server(), world.scene.project_id
    oauth_clients.create(world.service, name="Own", project_id=project_id)
    frontend = world.frontend()
    world.plant()
    body = {"id": "~/poll", "external_user_id": "alice", "configured_props": {}}
    assert world.post("P/triggers/deploy", server, json=body).status_code == 200
    run = {"id": "~/writes", "external_user_id": "alice", "configured_props": {"names": ["a"]}, "stash_id": "NEW"}
    assert world.post("P/actions/run", server, json=run).status_code == 200
    world.post(f"{ALL}/{project_id}/logo", server, json={"logo": uri(PNG)})
    world.post("P/app_overrides", server, json={"app": "tinykeys", "name": "EU", "cfmap": {"region": "eu"}})

    assert world.call("DELETE", f"{ALL}/{project_id}", server).status_code == 204

    assert world.call("DELETE", f"{ALL}/{project_id}", server).status_code == 404
    assert world.get("/v1/connect/accounts", frontend).status_code == 401
    store = world.service.store
    for table, column in stores.columns(store):
        if column in ("project_id", "owner") and table != "audit":
            assert store.all(f"SELECT 1 FROM {table} WHERE {column} = :id", {"id": project_id}) == [], table
    assert store.all("SELECT name FROM counters WHERE name LIKE :like", {"like": f"{project_id}%"}) == []


def test_removing_a_project_lets_its_triggers_unsubscribe(world: Any, provider: Any) -> None:
    account = world.plant()
    props = {"account": {"authProvisionId": account.id}, "ids": ["one"]}
    body = {"id": "~/poll", "external_user_id": "alice", "configured_props": props}
    deployed = world.post("P/triggers/deploy", world.server(), json=body)
    assert deployed.status_code == 200, deployed.text
    assert world.call("DELETE", f"{ALL}/{world.scene.project_id}", world.server()).status_code == 204
    assert "/me?leave=one" in provider.calls
    assert deployed_triggers.find(world.service.store, deployed.json["data"]["id"]) is None


class TestLogos:
    def where(self, world: Any) -> str:
        return f"{ALL}/{world.scene.project_id}/logo"

    @pytest.mark.parametrize("media_type", IMAGES)
    def test_an_image_is_what_its_bytes_say(self, world: Any, media_type: str) -> None:
        image, server = IMAGES[media_type], world.server()
        assert world.get(self.where(world)).status_code == 404
        assert world.post(self.where(world), server, json={"logo": uri(image, "image/tiff")}).status_code == 200
        answer = world.get(self.where(world))
        assert (answer.status_code, answer.data, answer.mimetype) == (200, image, media_type)
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"

    def test_a_form_with_a_file_will_do(self, world: Any) -> None:
        form = {"logo": (io.BytesIO(PNG), "logo.svg", "image/svg+xml")}
        answer = world.post(self.where(world), world.server(), data=form, content_type="multipart/form-data")
        assert answer.status_code == 200 and answer.json["id"] == world.scene.project_id
        assert world.get(self.where(world)).mimetype == "image/png"

    @pytest.mark.parametrize(
        "logo",
        [
            "", "nonsense", "https://example.com/logo.png", "data:image/png;base64,", "data:image/png;base64,A",
            "data:image/png," + "%89PNG", uri(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
            uri(b"<html>" + PNG), uri(b""), uri(b"RIFF\x10\x00\x00\x00WAVEfmt "),
        ],
    )  # fmt: skip
    def test_anything_else_is_refused(self, shared: Any, logo: str) -> None:
        answer = shared.post(self.where(shared), shared.server(), json={"logo": logo})
        assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "logo")
        assert shared.get(self.where(shared)).status_code == 404

    def test_a_large_one_is_refused(self, world: Any) -> None:
        image = PNG + bytes(project_logos.MAX_BYTES)
        assert world.post(self.where(world), world.server(), json={"logo": uri(image)}).status_code == 413
        head = b'--x\r\nContent-Disposition: form-data; name="logo"; filename="logo.png"\r\n\r\n'
        form = {"data": head + image + b"\r\n--x--\r\n", "content_type": "multipart/form-data; boundary=x"}
        assert world.post(self.where(world), world.server(), **form).status_code == 413
