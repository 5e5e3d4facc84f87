"""Wherever a person, a client or a provider names a host or an address, nothing that is not public is connected to.

Through the real API and the real pages, with a DNS that answers what an attacker would have it answer. An audit hook
sees every connect of this process; libpq connects outside Python, so its calls are counted where they begin.
"""

import base64
import itertools
import json
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import psycopg
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.fakes import ssrf, thirdparty
from tests.fakes.installation import Installation, copied, prepared
from tests.fakes.ssrf import VECTORS, answers
from tests.fakes.thirdparty import GOOD_KEY, ThirdParty
from webapp.kit.clock import HOUR, FakeClock
from webapp.service.domain.accounts import oauth_apps

DOCS = "https://docs.example.com/"
SHELF = f"""
name = "An app"
description = "An app of the tests."
categories = ["developer_tools"]
docs_url = "{DOCS}"
sources = ["{DOCS}"]
logo = {{ letter = "A", color = "#336699" }}
"""
KEYS = f"""
auth_type = "keys"
test = {{ url = "/me", source = "{DOCS}" }}

[[credentials]]
place = "bearer"
value = "{{key}}"
source = "{DOCS}"
"""
OAUTH = f"""
auth_type = "oauth"
test = {{ url = "/me", source = "{DOCS}" }}

[[credentials]]
place = "bearer"
source = "{DOCS}"

[oauth]
authorize_url = "AUTHORIZE"
token_url = "TOKEN"
revoke_url = "TOKEN"
sources = ["{DOCS}"]
client = {{ console_url = "{DOCS}", steps = ["Make one."], source = "{DOCS}" }}
"""


def field(name: str, *, secret: bool = False) -> str:
    return f'\n[[fields]]\nname = "{name}"\nlabel = "{name}"\nsecret = {str(secret).lower()}\n'


def own_apps(party: ThirdParty) -> dict[str, str]:
    """Apps whose addresses a person, or the provider, completes."""
    key = field("key", secret=True)
    facts = {
        "whole": ('base_url = "{address}"\nallowed_hosts = ["{address}"]', KEYS, field("address") + key),
        "label": (
            'base_url = "https://{part}.example.com"\nallowed_hosts = ["{part}.example.com"]',
            KEYS, field("part") + key,
        ),
        "hosted": (
            'base_url = "https://{host}:{number}/x/{path}"\nallowed_hosts = ["{host}:{number}"]', KEYS,
            field("host") + field("number") + field("path") + key,
        ),
        "exchange": (
            'base_url = "https://api.example.com"\nallowed_hosts = ["api.example.com"]',
            OAUTH.replace("AUTHORIZE", "https://id.example.com/auth").replace("TOKEN", "{address}/token"),
            field("address"),
        ),
        "instance": (
            'base_url = "{instance_url}"\nallowed_hosts = ["{instance_url}"]',
            OAUTH.replace("AUTHORIZE", f"{party.origin}/authorize").replace("TOKEN", f"{party.origin}/token")
            + 'keep = { instance_url = "instance_url" }\n', "",
        ),
    }  # fmt: skip
    return {slug: f'slug = "{slug}"\n{SHELF}{base}\n{auth}{more}' for slug, (base, auth, more) in facts.items()}


@pytest.fixture(scope="module")
def catalog_folder(tmp_path_factory: pytest.TempPathFactory, running_party: ThirdParty) -> Path:
    return prepared(tmp_path_factory.mktemp("ssrf"), {**running_party.apps, **own_apps(running_party)})


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Something that must not be found, on all addresses of this machine."""
    opened = socket.create_server(("0.0.0.0", 0))
    opened.setblocking(False)
    yield opened
    opened.close()


class Attack:
    """An installation, and somebody who gives it addresses."""

    def __init__(self, installation: Installation, party: ThirdParty, listener: socket.socket) -> None:
        self.installation, self.party, self.listener = installation, party, listener
        self.port = listener.getsockname()[1]
        self.browser: FlaskClient = installation.app.test_client()
        self.server = installation.server_token()
        self.database_calls: list[Any] = []

    def vectors(self) -> list[str]:
        """The addresses, at the listener's port."""
        return [vector.replace("{port}", str(self.port)) for vector in VECTORS]

    def hosts(self) -> list[str]:
        """What stands in the addresses as the host, with everything that is wrong with it."""
        return list(dict.fromkeys(re.split(r"[/?#]", one.partition("//")[2])[0].rpartition(f":{self.port}")[0] or one
                                  for one in self.vectors()))  # fmt: skip

    def call(self, method: str, path: str, **more: Any) -> TestResponse:
        """One call of the API by a server."""
        headers = {"Authorization": f"Bearer {self.server}", "x-pd-environment": "development"}
        address = f"/v1/connect/{self.installation.project.id}/{path}"
        return self.browser.open(address, method=method, base_url=self.installation.url, headers=headers, **more)

    def connect_by_key(self, app: str, fields: Mapping[str, str]) -> TestResponse:
        """Create an account by the API."""
        token = self.installation.token()
        return self.call(
            "POST", "accounts",
            json={"app_slug": app, "cfmap_json": json.dumps(fields), "connect_token": token},
        )  # fmt: skip

    def page(self, url: str) -> TestResponse:
        """A page of the link."""
        path = url.removeprefix(self.installation.url)
        return self.browser.get(path, base_url=self.installation.url, headers={"Sec-Fetch-Dest": "document"})

    def post(self, url: str, page: TestResponse, fields: Mapping[str, str]) -> TestResponse:
        """Send the form of ``page``."""
        hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page.text)
        data = {**{unescape(name): unescape(value) for name, value in hidden}, **fields}
        return self.browser.post(url, base_url=self.installation.url, data=data)

    def sign_in(self, app: str, fields: Mapping[str, str]) -> TestResponse:
        """Go through the link, as far as it goes, and come back with a code."""
        opened = self.page(self.installation.link(self.installation.token(), app))
        page = self.page(opened.headers["Location"])
        if fields:
            page = self.post("/_static/connect/keys", page, fields)
        start = re.search(r'data-start href="([^"]*)"', page.text)
        if start is None:
            return page
        begun = self.page(unescape(start[1]))
        if begun.status_code != 303:
            return begun
        asked = dict(parse_qsl(urlsplit(begun.headers["Location"]).query))
        query = urlencode({"code": "canary-code-x", "state": asked["state"], "iss": self.party.origin})
        return self.page(f"{urlsplit(asked['redirect_uri']).path}?{query}")

    def check(self, vector: object) -> None:
        """Nothing was reached but the third party that the operator allows."""
        others = [one for one in ssrf.connects if one != ("127.0.0.1", self.party.port)]
        assert others == [] and self.database_calls == [], f"{vector!r} led to {others or self.database_calls}"
        with pytest.raises(BlockingIOError):
            self.listener.accept()

    def each(self, vectors: list[Any], attack: Callable[[Any], TestResponse], least: int) -> None:
        """Try all; every one must end in a named failure and without an account."""
        assert len(vectors) >= least
        for vector in vectors:
            ssrf.listen()
            answer = attack(vector)
            self.check(vector)
            assert answer.status_code not in (200, 500), f"{vector!r} was answered with {answer.status_code}"
            assert self.installation.accounts() == [], f"{vector!r} was connected"


@pytest.fixture
def attack(
    data: Path, clock: FakeClock, party: ThirdParty, catalog_folder: Path, listener: socket.socket,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Attack]:  # fmt: skip
    made = Installation(
        copied(catalog_folder, data), clock=clock, resolver=answers, PATCHBAY_ALLOW_HOSTS=party.netloc
    )  # fmt: skip
    for app in ("acme", "exchange", "instance"):
        oauth_apps.add(
            made.service, app=app, client_id=thirdparty.CLIENT_ID, client_secret=thirdparty.CLIENT_SECRET,
            project_id=made.project.id,
        )  # fmt: skip
    attack = Attack(made, party, listener)
    connect = psycopg.connect

    def counted(*given: Any, **options: Any) -> Any:
        attack.database_calls.append(options)
        return connect(*given, **options)

    monkeypatch.setattr(psycopg, "connect", counted)
    yield attack
    made.stop()


def test_the_host_of_a_database(attack: Attack) -> None:
    def by_api(host: str) -> TestResponse:
        fields = {"host": host, "port": str(attack.port), "database": "d", "user": "u", "password": "p"}
        return attack.connect_by_key("postgresql", fields)

    more = ["/var/run/postgresql", "127.0.0.1,public.test", "host=127.0.0.1", "127.0.0.1 port=1", "@abstract", "::1"]
    attack.each(attack.hosts() + more, by_api, 90)


def test_the_port_of_a_database(attack: Attack) -> None:
    def by_api(port: str) -> TestResponse:
        return attack.connect_by_key(
            "postgresql", {"host": "93.184.215.14", "port": port, "database": "d", "user": "u", "password": "p"}
        )  # fmt: skip

    ports = [
        "22",
        "25",
        "80",
        "443",
        "6379",
        "0",
        "-1",
        "65536",
        "99999999999",
        "5432,22",
        "٥٤٣٢",
        "x",
        "5432 host=::1",
    ]
    attack.each(ports, by_api, 12)


def test_a_database_form_of_the_link(attack: Attack) -> None:
    def by_form(host: str) -> TestResponse:
        opened = attack.page(attack.installation.link(attack.installation.token(), "postgresql"))
        page = attack.page(opened.headers["Location"])
        fields = {"host": host, "port": str(attack.port), "database": "d", "user": "u", "password": "p"}
        return attack.post("/_static/connect/keys", page, {f"cf_{name}": value for name, value in fields.items()})

    attack.each(["127.0.0.1", "localhost", "loopback.test", "169.254.169.254", "::1", "mixed.test", "0"], by_form, 7)


def test_a_whole_address_that_a_person_enters(attack: Attack) -> None:
    attack.each(
        attack.vectors(), lambda vector: attack.connect_by_key("whole", {"address": vector, "key": "k"}), 130
    )  # fmt: skip


def test_a_part_of_an_address_that_a_person_enters(attack: Attack) -> None:
    parts = ["127.0.0.1", "127.0.0.1:{0}/#", "127.0.0.1:{0}?", "x@127.0.0.1:{0}#", "a.b", "evil.test/", "..", ".", "*",
             "127.0.0.1\\", "a\r\nHost: x", "%31", "[::1]:{0}/", "localhost#", "a:{0}",
             "x/../..//127.0.0.1"]  # fmt: skip
    given = [part.replace("{0}", str(attack.port)) for part in parts]
    attack.each(given, lambda part: attack.connect_by_key("label", {"part": part, "key": "k"}), 16)


def test_a_host_that_a_person_enters(attack: Attack) -> None:
    def enter(host: str) -> TestResponse:
        return attack.connect_by_key("hosted", {"host": host, "number": str(attack.port), "path": "p", "key": "k"})

    attack.each(attack.hosts(), enter, 90)


def test_a_token_address_that_a_person_completes(attack: Attack) -> None:
    attack.each(attack.vectors(), lambda vector: attack.sign_in("exchange", {"cf_address": _sendable(vector)}), 130)


def test_an_address_in_the_answer_of_a_provider(attack: Attack) -> None:
    def answered(vector: str) -> TestResponse:
        attack.party.besides = {"instance_url": vector}
        return attack.sign_in("instance", {})

    attack.each(attack.vectors()[1::2], answered, 65)
    assert attack.party.calls.count("POST /token") >= 65


def test_a_redirect_from_a_test_request(attack: Attack) -> None:
    codes = itertools.cycle((301, 302, 303, 307, 308))

    def redirected(vector: str) -> TestResponse:
        attack.party.elsewhere, attack.party.redirect_code = _headable(vector), next(codes)
        return attack.connect_by_key("acme_keys", {"api_key": GOOD_KEY})

    attack.party.mood = "redirecting"
    attack.each(attack.vectors(), redirected, 130)
    assert attack.party.calls.count("GET /me") >= 130


def test_a_redirect_from_a_token_request(attack: Attack) -> None:
    def redirected(vector: str) -> TestResponse:
        attack.party.elsewhere, attack.party.redirect_code = _headable(vector), 307
        return attack.sign_in("acme", {})

    attack.party.token_mood = "redirecting"
    attack.each(attack.vectors()[::2], redirected, 65)
    assert attack.party.calls.count("POST /token") >= 65


def test_redirects_while_looking_after_an_account(attack: Attack, clock: FakeClock) -> None:
    assert attack.sign_in("acme", {}).status_code == 303
    (account,) = attack.installation.accounts()
    attack.party.mood = attack.party.token_mood = "redirecting"
    for vector in attack.vectors()[:40]:
        attack.party.elsewhere = _headable(vector)
        ssrf.listen()
        clock.advance(2 * HOUR)
        attack.server = attack.installation.server_token()
        attack.call("POST", f"accounts/{account.id}/test")
        attack.call("POST", f"accounts/{account.id}/revoke")
        attack.check(vector)
    assert attack.installation.accounts() != []


def proxied(attack: Attack, target: str) -> TestResponse:
    """A request through the proxy, as the account that is there."""
    (account,) = attack.installation.accounts()
    coded = base64.urlsafe_b64encode(target.encode("utf-8", "replace")).decode()
    query = {"external_user_id": account.external_id, "account_id": account.id}
    return attack.call("GET", f"proxy/{coded}", query_string=query)


def test_a_target_of_the_proxy(attack: Attack) -> None:
    assert attack.connect_by_key("acme_keys", {"api_key": GOOD_KEY}).status_code == 200
    for vector in attack.vectors():
        ssrf.listen()
        answer = proxied(attack, vector)
        attack.check(vector)
        below = not re.match(r"\w+://", vector)  # no whole address: a path below the app's own
        assert answer.status_code in ((200, 400, 404) if below else (400, 403)), f"{vector!r}: {answer.status_code}"


def test_a_redirect_of_the_proxy(attack: Attack) -> None:
    assert attack.connect_by_key("acme_keys", {"api_key": GOOD_KEY}).status_code == 200
    attack.party.mood = "redirecting"
    for vector, code in zip(attack.vectors(), itertools.cycle((301, 302, 303, 307, 308)), strict=False):
        attack.party.elsewhere, attack.party.redirect_code = _headable(vector), code
        ssrf.listen()
        answer = proxied(attack, "/me")
        attack.check(vector)
        assert answer.status_code in (200, 401, 404, code, 502), f"{vector!r} was answered with {answer.status_code}"


def test_the_same_ways_lead_to_an_address_that_is_allowed(attack: Attack) -> None:
    """So that what is refused above is refused for its address, and for nothing else."""
    attack.party.besides = {"instance_url": attack.party.origin}
    for answer in (
        attack.connect_by_key("acme_keys", {"api_key": GOOD_KEY}),
        attack.connect_by_key("whole", {"address": attack.party.origin, "key": "canary-access-token-x"}),
        attack.sign_in("acme", {}),
        attack.sign_in("instance", {}),
    ):
        assert answer.status_code in (200, 303), answer.text
    assert {one.app for one in attack.installation.accounts()} == {"acme_keys", "whole", "acme", "instance"}
    before = attack.party.calls.count("POST /token")
    attack.sign_in("exchange", {"cf_address": attack.party.origin})
    assert attack.party.calls.count("POST /token") == before + 1 or "POST /token/token" in attack.party.calls


def _sendable(vector: str) -> str:
    """A vector as a form can hold it."""
    return vector.encode("utf-8", "replace").decode()


def _headable(vector: str) -> str:
    """A vector as a header can hold it."""
    return re.sub(r"[\r\n\x00]", "", vector).encode("utf-8", "replace").decode("latin-1")
