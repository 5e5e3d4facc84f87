"""``POST P/embed_check``."""

from typing import Any

from webapp.kit.clock import iso

PAGE = "HTTP/1.1 200 OK\ncross-origin-opener-policy: same-origin\n\n"


def test_the_answer(world: Any) -> None:
    body = {"url": "https://app.example.com/mail", "allowed_origins": ["https://app.example.com"], "printed": PAGE}
    data = world.post("P/embed_check", world.server("connect:projects:read"), json=body).json["data"]
    assert (data["origin"], data["looked_at"]) == ("https://app.example.com", "https://app.example.com/mail")
    assert {finding["code"]: finding["state"] for finding in data["findings"]} == {
        "origin": "ok", "https": "ok", "opener": "warn", "frame": "ok", "script": "ok", "connect": "ok",
    }  # fmt: skip


def test_an_address_of_this_machine_is_not_reached(world: Any) -> None:
    data = world.post("P/embed_check", world.server(), json={"url": "http://127.0.0.1:5173/"}).json["data"]
    assert data["findings"][-1]["code"] == "page" and "not on the public internet" in data["findings"][-1]["detail"]


def test_bad_input_is_refused(world: Any) -> None:
    for body in ({}, {"url": ""}, {"url": "app.example.com"}, {"url": "https://a.example", "printed": "<html>"}):
        answer = world.post("P/embed_check", world.server(), json=body)
        assert answer.status_code == 400 and answer.json["details"]
    assert world.post("P/embed_check", world.frontend(), json={"url": "https://a.example"}).status_code == 403


def test_origins_that_were_refused_are_listed(world: Any) -> None:
    token = world.frontend(allowed_origins=["https://a.example"])
    assert world.get("P/accounts", token, headers={"Origin": "http://localhost:5173"}).status_code == 403
    listed = world.get("P/refused_origins", world.server("connect:projects:read")).json["data"]
    assert listed == [{"origin": "http://localhost:5173", "refused_at": iso(world.clock())}]
    assert world.get("P/refused_origins", token).status_code == 403
    assert world.get("P/refused_origins", world.server(), env="production").json["data"] == []
