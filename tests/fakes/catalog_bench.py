"""A service that can connect every app of the catalog to providers made from the apps' own declarations.

Nothing of the service is replaced but where names lead: the guard's resolver answers loopback for every host, its
allow list names those hosts, and what goes to port 443 arrives at the fake's port, under a certificate for the
real name that an authority of the tests signed.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.fakes import smtp_server, socket_server
from tests.fakes.certificates import Authority
from tests.fakes.databases import mysql_fake, postgres_fake
from tests.fakes.declared.filling import fill
from tests.fakes.declared.provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    IDENTITY_ID,
    REDIRECT_URI,
    Answer,
    DeclaredProvider,
    heard,
)
from tests.fakes.declared.sessions import key_of
from webapp.kit.clock import FakeClock
from webapp.service.catalog.app import App
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.catalog.spec import SESSION_TOKEN, absolute
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps, provider
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.fields import kept
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound import oauth, oauth1
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard, Target
from webapp.service.outbound.oauth import Provider, TokenResult
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import AnySocket, Limits, Transport
from webapp.settings import Settings

SLUGS = sorted(file.parent.name for file in BUILT_IN.glob("*/app.toml") if "\nauth_type" in file.read_text("utf-8"))
"""The apps that have requests of their own; those of hosted MCP servers have a server of their own to play them."""
SIGN_IN = " by sign-in"  # behind the slug of an app of keys: the app as people sign in to it
BY_SIGN_IN = [f"{slug}{SIGN_IN}" for slug in SLUGS if "[sign_in" in (BUILT_IN / slug / "app.toml").read_text("utf-8")]
STATE, VERIFIER = "state-1", "v" * 43


@dataclass(frozen=True)
class Rerouting(Transport):
    """Connections to port 443 arrive at ``port`` instead; every check comes before that."""

    port: int

    def connect(self, target: Target, limits: Limits) -> AnySocket:
        if target.url.port == 443:
            target = replace(target, url=replace(target.url, port=self.port))
        return super().connect(target, limits)


def rerouted(guard: Guard, *, ca_file: str, port: int) -> OutboundClient:
    """The outbound client over :class:`Rerouting`."""
    client = OutboundClient(guard, user_agent="Patchbay-Test", ca_file=ca_file)
    client._transport = Rerouting(guard, "Patchbay-Test", client.tls, port)
    return client


class Front(ThreadingHTTPServer):
    """Where requests arrive; ``provider`` answers them."""

    provider: DeclaredProvider
    scheme = "http"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port = self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: Front

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = heard(self.command, self.server.scheme, self.path, dict(self.headers), body)
        try:
            self._send(self.server.provider.answer(request))
        except Exception as error:
            self.server.provider.problems.append(f"{self.command} {self.path}: {error!r}")
            raise

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET

    def _send(self, answer: Answer) -> None:
        raw = b"" if answer.location else json.dumps(answer.body).encode()
        if answer.form is not None:
            raw = urlencode(answer.form).encode()
        self.send_response(answer.status)
        if answer.location:
            self.send_header("Location", answer.location)
        kind = "application/json" if answer.form is None else "application/x-www-form-urlencoded"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@dataclass
class Bench:
    """A service that can reach the fakes, and what it takes to connect an app in it."""

    service: Service
    scene: Scene
    fronts: tuple[Front, Front]
    mail: smtp_server.MailServer
    databases: Mapping[str, postgres_fake.DatabaseServer | mysql_fake.MySQLServer]

    def app(self, name: str) -> App:
        """The app with that slug, or with :data:`SIGN_IN` behind it as people sign in to it."""
        return _app(self.service, name)

    def provider(self, app: App, **facts: Any) -> DeclaredProvider:
        """The provider of ``app``, taking requests from now on."""
        made = DeclaredProvider(app, self.values(app, "right"), self.values(app, "wrong"), **facts)
        for front in self.fronts:
            front.provider = made
        return made

    def values(self, app: App, kind: str) -> dict[str, str]:
        """Everything that the app's texts are filled with: its fields, and what a token answer brings."""
        found = _samples(app, kind)
        if app.test_kind == "smtp":
            found |= {"host": "mail.example.com", "port": str(self.mail.port), "user": self.mail.user}
            found["password"] = self.mail.password if kind == "right" else "wrong"
        if database := self.databases.get(app.test_kind or ""):
            found |= {"host": "db.example.com", "port": str(database.port), "user": database.user}
            found["password"] = database.password if kind == "right" else "wrong"
        return found

    def connect(self, app: App, kind: str = "right", answers: dict[str, str] | None = None) -> Account:
        """Connect ``app`` the way a person would, who gives these ``answers``. Raises :class:`ConnectFailed` kinds."""
        made = connect_tokens.create(self.service, self.scene, connect_tokens.TokenRequest("alice"), client_id=None)
        token = connect_tokens.verify(self.service, made["token"])
        fields = {field.name: self.values(app, kind)[field.name] for field in app.spec.fields}
        if app.auth_type == "keys":
            return connections.connect_with_keys(self.service, token, app, fields)
        client = oauth_apps.choose(self.service.store, self.scene.project_id, app.slug)
        assert client is not None
        result = self.grant(app, fields)
        assert isinstance(result, TokenResult), result
        return connections.connect_with_grant(
            self.service, token, app, client, result,
            requested=app.default_scopes, profile=None, fields=fields, account_id=None, answers=answers,
        )  # fmt: skip

    def grant(self, app: App, fields: dict[str, str], *, down: bool = False) -> TokenResult | OAuthFailure:
        """Sign in at the provider and exchange the code; ``down``: the provider fails in between."""
        client = oauth_apps.choose(self.service.store, self.scene.project_id, app.slug)
        assert client is not None
        asked, outbound = provider.oauth_provider(self.service, app, client, fields), self.service.client_for(app)
        if asked.request_token_url:
            return self._signed_grant(app, asked, down)
        address = oauth.authorization_url(
            asked, redirect_uri=REDIRECT_URI, state=STATE, verifier=VERIFIER, scopes=app.default_scopes
        )
        redirect = outbound.request("GET", address.replace("/#/", "/"))  # the person's browser, and the page's script
        assert isinstance(redirect, Response), redirect
        assert redirect.status == 302, redirect
        back = {name: values[0] for name, values in parse_qs(urlsplit(redirect.headers["location"]).query).items()}
        assert back["state"] == STATE
        assert oauth.check_issuer(asked, back.get("iss")) is None
        if down:
            self.fronts[0].provider.down = "all"
        return oauth.exchange_code(outbound, asked, code=back["code"], redirect_uri=REDIRECT_URI, verifier=VERIFIER)

    def _signed_grant(self, app: App, asked: Provider, down: bool) -> TokenResult | OAuthFailure:
        outbound = self.service.client_for(app)
        begun = oauth1.begin(outbound, asked, f"{REDIRECT_URI}?state={STATE}")
        assert isinstance(begun, oauth1.Temporary), begun
        redirect = outbound.request("GET", oauth1.authorization_url(asked, begun, app.default_scopes))
        assert isinstance(redirect, Response) and redirect.status == 302, redirect
        back = {name: values[0] for name, values in parse_qs(urlsplit(redirect.headers["location"]).query).items()}
        assert (back["state"], back["oauth_token"]) == (STATE, begun.token)
        if down:
            self.fronts[0].provider.down = "all"
        return oauth1.exchange(outbound, asked, begun, back["oauth_verifier"])

    def count(self) -> int:
        """How many accounts there are."""
        row = self.service.store.one("SELECT COUNT(*) AS n FROM accounts", {})
        assert row is not None
        return int(row["n"])


def _app(service: Service, name: str) -> App:
    app = service.app(name.removesuffix(SIGN_IN))
    return app.by_sign_in if name.endswith(SIGN_IN) else app


def _samples(app: App, kind: str) -> dict[str, str]:
    """A value for every name, each fit for its place; the wrong ones differ in what is secret."""
    found = {}
    for field in app.spec.fields:
        first = field.options[0].value if field.options else _sample(app, field.name)
        found[field.name] = kept(field, field.default or ("us19" if field.read_from else first))
        if field.secret:
            # Telegram's tokens hold a colon, which the user name of Basic may not (RFC 7617, section 2).
            odd = ":+/=&%" if any(one.place == "url" for one in app.spec.credentials) else "+/=&%"
            found[field.name] = f"secret-{field.name}{odd}" if kind == "right" else f"other-{field.name}"
    if session := app.spec.session:
        found |= {name: _sample(app, name) for name in session.keep} | {SESSION_TOKEN: f"secret-session-{kind}"}
        if session.assertion:
            found[session.assertion.key] = key_of(session.assertion, kind)
    if app.oauth:
        looked_up = app.oauth.look_up.keep if app.oauth.look_up else {}
        found |= {name: _sample(app, name) for name in (*app.oauth.keep, *looked_up)}
        found |= {"oauth_access_token": f"secret-token-{kind}", "oauth_client_id": CLIENT_ID, "oauth_uid": IDENTITY_ID}
        found |= {"oauth_client_secret": CLIENT_SECRET} if app.oauth.request_token_url else {}
    return found


def _sample(app: App, name: str) -> str:
    """One label; a whole address where addresses begin with it, within the hosts that the app declares."""
    spec = app.spec
    texts = [spec.base_url or "", *(one.url for one in (spec.test, spec.identity) if one)]
    if not any(text.startswith(f"{{{name}}}") for text in texts):
        return "acme"
    wild = [rule for rule in spec.allowed_hosts if rule.startswith("*.")]
    return f"https://acme.{wild[0][2:]}" if wild else "https://api.acme.example.com"


def _hosts(app: App) -> set[str]:
    """The hosts to which a connection of ``app`` leads."""
    spec, values = app.spec, _samples(app, "right")
    texts = [
        absolute(spec.base_url, one.url) for name, one in spec.requests if one.url and not name.startswith("events.")
    ]
    texts += [absolute(spec.base_url, spec.session.url)] if spec.session and spec.session.url else []
    if spec.oauth:
        texts += [spec.oauth.authorize_url or "", spec.oauth.token_url or ""]
        texts += [spec.oauth.request_token_url] if spec.oauth.request_token_url else []
    return {urlsplit(fill(text, values)).hostname or "" for text in texts}


@contextmanager
def catalog_bench(data: Path, ca: Path) -> Iterator[Bench]:
    """A bench over the empty folders ``data`` and ``ca``."""
    authority = Authority(ca)
    with ExitStack() as stack:
        plain, secure = Front(), Front()
        settings = Settings.from_env({"PATCHBAY_SANDBOX_PORT": str(plain.port)}, data=data)
        service = open_service(settings, FakeClock())
        stack.callback(close_service, service)
        apps = [_app(service, name) for name in (*SLUGS, *BY_SIGN_IN)]
        hosts = {host for app in apps for host in _hosts(app)} | {"localhost", "www.googleapis.com"}
        names = sorted(hosts | {"mail.example.com"})
        secure.scheme = "https"
        secure.socket = authority.context(*names).wrap_socket(secure.socket, server_side=True)
        for front in (plain, secure):
            stack.enter_context(_Running(front))
        guard = Guard([*names, "db.example.com"], resolver=lambda *_: [ip_address("127.0.0.1")])
        client = rerouted(guard, ca_file=authority.ca_file, port=secure.port)
        service = replace(service, outbound=client)
        service.executor._interpreter._client = client
        project = projects.create(service, name="Shop", support_email="help@shop.example")
        for app in apps:
            if app.oauth:
                secret = None if app.oauth.token_auth_method == "none" else CLIENT_SECRET
                oauth_apps.add(service, app=app.slug, client_id=CLIENT_ID, client_secret=secret, project_id=project.id)
        letters = smtp_server.MailServer("ada@example.com", "secret-mail", "tls", authority.context("mail.example.com"))
        yield Bench(
            service,
            Scene(project.id, "development"),
            (plain, secure),
            stack.enter_context(socket_server.serving(letters)),
            {
                "mysql": stack.enter_context(socket_server.serving(mysql_fake.MySQLServer("ada", "secret-database"))),
                "postgres": stack.enter_context(
                    socket_server.serving(postgres_fake.DatabaseServer("ada", "secret-database"))
                ),
            },
        )


class _Running:
    """Lets a server answer until the block ends."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._thread = threading.Thread(target=front.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._front.shutdown()
        self._thread.join()
        self._front.server_close()
