"""The workspace's own OAuth clients over the API."""

from typing import Any

import pytest
from joserfc import jwk

from webapp.kit.clock import MINUTE, iso, parse_iso


def grant(world: Any, client: dict[str, str]) -> Any:
    pair = {"client_id": client["id"], "client_secret": client["client_secret"]}
    return world.post("/v1/oauth/token", json={"grant_type": "client_credentials", **pair})


def test_a_client_is_made_rotated_and_deleted_with_its_tokens(world: Any) -> None:
    token = world.server()
    made = world.post("/v1/oauth/clients", token, json={"name": "Shop", "scope": "connect:*"}).json
    access = grant(world, made).json["access_token"]
    ctok = world.post("P/tokens", access, json={"external_user_id": "alice"}).json["token"]
    other = world.frontend("alice")
    assert world.get("P/accounts", ctok).status_code == 200
    listed = world.get("/v1/oauth/clients", token)
    assert made["client_secret"] not in listed.text and made["id"] in [one["id"] for one in listed.json["data"]]
    rotated = world.post(f"/v1/oauth/clients/{made['id']}/rotate", token).json
    assert world.get("P/accounts", access).status_code == 401 and grant(world, made).status_code == 401
    access = grant(world, rotated).json["access_token"]
    assert world.call("DELETE", f"/v1/oauth/clients/{made['id']}", token).status_code == 204
    for ended in (access, ctok):
        assert world.get("P/accounts", ended).status_code == 401
    assert grant(world, rotated).status_code == 401
    assert world.get("P/accounts", other).status_code == 200
    assert world.call("DELETE", f"/v1/oauth/clients/{made['id']}", token).status_code == 404
    entries = world.service.store.all("SELECT verb FROM audit WHERE subject_id = :id ORDER BY id", {"id": made["id"]})
    assert [entry["verb"] for entry in entries] == ["created", "rotated", "deleted"]


def test_both_secrets_work_while_a_client_is_changed_over(world: Any) -> None:
    token = world.server()
    old = world.post("/v1/oauth/clients", token, json={"name": "Shop"}).json
    assert old["old_secret_ends_at"] is None and old["last_used_at"] is None
    access = grant(world, old).json["access_token"]
    rotated = world.post(f"/v1/oauth/clients/{old['id']}/rotate?overlap_seconds=60", token).json
    assert rotated["old_secret_ends_at"] == iso(parse_iso(rotated["rotated_at"]) + MINUTE)
    assert grant(world, old).status_code == grant(world, rotated).status_code == 200
    assert world.get("P/accounts", access).status_code == 200
    assert world.call("DELETE", f"/v1/oauth/clients/{old['id']}/old_secret", token).status_code == 204
    assert grant(world, old).status_code == world.get("P/accounts", access).status_code == 401
    assert grant(world, rotated).status_code == 200
    world.post(f"/v1/oauth/clients/{old['id']}/rotate?overlap_seconds=60", token)
    world.clock.advance(MINUTE + 2)
    (shop,) = [one for one in world.get("/v1/oauth/clients", token).json["data"] if one["name"] == "Shop"]
    assert shop["old_secret_ends_at"] is None and grant(world, rotated).status_code == 401


@pytest.mark.parametrize("overlap", ["-1", "x", "2592001", "1.5", "٣"])
def test_an_overlap_that_makes_no_sense_is_refused(world: Any, overlap: str) -> None:
    token = world.server()
    client_id = world.post("/v1/oauth/clients", token, json={"name": "Shop"}).json["id"]
    refused = world.post(f"/v1/oauth/clients/{client_id}/rotate?overlap_seconds={overlap}", token)
    assert refused.status_code == 400 and refused.json["details"][0]["field"] == "overlap_seconds"


def test_bad_input_is_refused(world: Any) -> None:
    token = world.server()
    for body, code in (
        ({"name": ""}, 400), ({"name": "A", "scope": "all"}, 400), ({"name": "A", "project_id": "proj_absent"}, 404),
    ):  # fmt: skip
        assert world.post("/v1/oauth/clients", token, json=body).status_code == code
    for method, path in (("POST", "absent/rotate"), ("DELETE", "dashboard"), ("DELETE", "absent/old_secret")):
        assert world.call(method, f"/v1/oauth/clients/{path}", token).status_code == 404


def test_a_client_has_a_key_instead_of_a_secret_or_beside_it(world: Any) -> None:
    token, key = world.server(), jwk.OKPKey.generate_key("Ed25519")
    public, pem = key.as_dict(private=False), jwk.ECKey.generate_key("P-256").as_pem(private=False).decode()
    keyed = world.post("/v1/oauth/clients", token, json={"name": "Keyed", "public_key": public}).json
    assert "client_secret" not in keyed and keyed["key_thumbprint"] == key.thumbprint()
    path = f"/v1/oauth/clients/{keyed['id']}"
    assert world.call("DELETE", f"{path}/public_key", token).status_code == 409
    rotated = world.post(f"{path}/rotate?overlap_seconds=60", token).json
    assert rotated["client_secret"] and rotated["old_secret_ends_at"] is None
    assert grant(world, rotated).status_code == 200
    changed = world.call("PUT", f"{path}/public_key", token, json={"public_key": pem}).json
    assert changed["key_thumbprint"] not in (None, key.thumbprint())
    assert world.call("DELETE", f"{path}/public_key", token).status_code == 204
    listed = world.get("/v1/oauth/clients", token).json["data"]
    assert next(one for one in listed if one["id"] == keyed["id"])["key_thumbprint"] is None


@pytest.mark.parametrize("public_key", ["", "x", {}, {"kty": "oct", "k": "AAAA"}, 5])
def test_what_is_no_public_key_is_refused(world: Any, public_key: Any) -> None:
    token = world.server()
    client_id = world.post("/v1/oauth/clients", token, json={"name": "Shop"}).json["id"]
    refused = world.call("PUT", f"/v1/oauth/clients/{client_id}/public_key", token, json={"public_key": public_key})
    assert refused.status_code == 400 and "public_key" in refused.json["details"][0]["field"]
