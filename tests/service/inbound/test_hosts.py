"""Hosts of triggers: each path there is the trigger's, and nothing else answers."""

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.fakes.deployed import bodies
from webapp.app import create_app
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, deploying
from webapp.service.domain.triggers.deploying import Deployment
from webapp.service.inbound.hosts import OWN_HOST, TriggerHosts
from webapp.settings import Settings

DOMAIN = "hooks.example.com"


def settings(data: Path, public_url: str, domain: str = DOMAIN) -> Settings:
    return Settings.from_env({"PATCHBAY_PUBLIC_URL": public_url, "PATCHBAY_WORKFLOW_DOMAIN": domain}, data=data)


@pytest.mark.parametrize(
    ("public_url", "host", "leads"),
    [
        ("https://connect.example.com", "abc1.hooks.example.com", True),
        ("https://connect.example.com", "abc1.hooks.example.com:443", True),
        ("https://connect.example.com", "abc1.hooks.example.com:80", False),
        ("https://connect.example.com:8443", "abc1.hooks.example.com:8443", True),
        ("https://connect.example.com:8443", "abc1.hooks.example.com", False),
        ("https://connect.example.com", "hooks.example.com", False),
        ("https://connect.example.com", ".hooks.example.com", False),
        ("https://connect.example.com", "a.b.hooks.example.com", False),
        ("https://connect.example.com", "a/b.hooks.example.com", False),
        ("https://connect.example.com", "abc1.hooks.example.com.evil.com", False),
    ],
)
def test_the_hosts_of_triggers(data: Path, public_url: str, host: str, leads: bool) -> None:
    environ: dict[str, Any] = {"PATH_INFO": "/in/box"}
    assert TriggerHosts(settings(data, public_url)).route(environ, host) == leads
    assert environ == ({"PATH_INFO": "/h/abc1/in/box", OWN_HOST: True} if leads else {"PATH_INFO": "/in/box"})


def test_without_a_domain_there_are_none(data: Path) -> None:
    plain = Settings.from_env({"PATCHBAY_PUBLIC_URL": "https://connect.example.com"}, data=data)
    assert not TriggerHosts(plain).route({}, "abc1.None")
    assert plain.trigger_url("abc1") == "https://connect.example.com/h/abc1"


def test_a_key_with_capitals_stays_at_its_path(data: Path) -> None:
    with_domain = settings(data, "https://connect.example.com:8443")
    assert with_domain.trigger_url("abc1") == "https://abc1.hooks.example.com:8443"
    assert with_domain.trigger_url("Abc1") == "https://connect.example.com:8443/h/Abc1"


def test_a_trigger_listens_at_both_of_its_addresses_and_nothing_else_answers_there(
    service: Service, scene: Scene, data: Path
) -> None:
    chosen = settings(data, "https://connect.example.com")
    own = Service(**{**{name: getattr(service, name) for name in service.__slots__}, "settings": chosen})
    web: FlaskClient = create_app(chosen, service=own).test_client()
    component = own.catalog.component("http-new-requests")
    assert component is not None
    trigger = deploying.deploy(own, Deployment(scene, "alice", component, {}))
    url, key = deployed_triggers.endpoint_url(own, trigger), deployed_triggers.endpoint_key(own, trigger)
    assert url == f"https://{key}.{DOMAIN}" and key == str(key).lower()
    for address in (f"{url}/healthz?a=1", f"https://connect.example.com/h/{key}/healthz?a=1"):
        assert web.post(address, data="x").get_json() == {"success": True}, address
    urls = {event.split(b'"url":"')[1].split(b'"')[0].decode() for event in bodies(own, trigger)}
    assert urls == {f"{url}/healthz?a=1", f"https://connect.example.com/h/{key}/healthz?a=1"}
    for path in ("/", "/v1/connect/apps", "/healthz", "/h/" + str(key)):
        answer = web.get(f"https://nobody.{DOMAIN}{path}")
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (404, False)
        assert b"nothing at this address" in answer.data
