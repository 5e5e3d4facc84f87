"""Thirty days in the life of a made-up product, lived through in a few seconds: what ``patchbay demo`` fills a folder
with.

Nothing is written to a table of another module. The product's server calls the API, people connect accounts at the
sandbox, agents ask, the worker polls and delivers, all by the functions that do it every day; only the clock that they
are given is ours, and moves from one moment of the story to the next. The sandbox runs by the same clock and answers on
its own port meanwhile, so that its port must be free.
"""

import random
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import click
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from webapp import audit, demo
from webapp.audit import Actor
from webapp.cli.serving.listeners import listen, reason
from webapp.errors import PatchbayError
from webapp.kit import assets
from webapp.kit.clock import DAY, HOUR, MINUTE, FakeClock
from webapp.people import users
from webapp.people.users import User
from webapp.sandbox.app import create_sandbox
from webapp.sandbox.grants import BEHAVIOURS
from webapp.sandbox.people import PEOPLE
from webapp.sandbox.state import EXTENSION, Sandbox
from webapp.sandbox.store import Store
from webapp.service.api import wiring as api
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.access.oauth_clients import OAuthClient
from webapp.service.domain.accounts import (
    account_state,
    attempts,
    connections,
    health,
    oauth_apps,
    provider,
    redirect_uris,
    retry_times,
    token_refresh,
)
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import AttemptRequest, SignInStart
from webapp.service.domain.agents import approvals, sessions
from webapp.service.domain.agents.sessions import AgentSession, Entry
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests, components
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.deliveries import claims
from webapp.service.domain.deliveries.sender import Sender
from webapp.service.domain.instance import removal
from webapp.service.domain.projects import external_users, projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, fire
from webapp.service.domain.triggers import lifecycle as trigger_lifecycle
from webapp.service.outbound import oauth
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.settings import Settings

PRODUCT = "Fernhollow"
OWNER = "owner@fernhollow.example"
DAYS = 30
CUSTOMERS = ("customer-mira", "customer-tomas", "customer-yuki")
AGENT, OTHER_AGENT = "Potting Shed", "Night Gardener"
MORNING = 9
BUSY, QUIET = (MORNING, 16), (MORNING,)  # the hours at which something happens: on the last seven days, and before
HARBOUR, BAKERY = "prj_001", "prj_006"  # projects of the sandbox without further fields
TITLES = (
    "Order seed trays", "Water the ferns", "Repair greenhouse door", "Label the herb beds", "Invoice the florist",
    "Move the compost", "Plan the spring market", "Count the bulbs", "Replace the hose", "Call the orchard",
    "Sharpen the secateurs", "Prune the roses", "Sow early peas", "Clean the cold frame",
)  # fmt: skip
TOO_LONG = "Everything that has to be done before the spring market, all of it in one title: " + "and more " * 15
"""The sandbox takes titles of at most 200 characters, so that a run with this one fails."""


@dataclass(frozen=True, slots=True)
class Login:
    """The owner's login of the new installation. The password is nowhere else."""

    email: str
    password: str


def tell(service: Service, clock: FakeClock) -> Login:
    """Fill ``service``, which goes by ``clock``, with the story, which ends at the time that ``clock`` shows now."""
    end = clock.at
    clock.advance(-(DAYS - 1) * DAY)
    with audit.acting(Actor("command", "patchbay demo")):
        return _Story(service, clock, end).tell()


class _Story:
    """The story of one installation. Its methods are what happens, in the order in which it happens."""

    def __init__(self, service: Service, clock: FakeClock, end: int) -> None:
        self._service, self._clock, self._end = service, clock, end
        self._draw = random.Random(7)  # noqa: S311  # the same story each time
        self._titles = iter(TITLES * 40)
        self._sender = Sender(service, partial(deployed_triggers.mask_of, service))
        self._accounts: dict[tuple[str, str], Account] = {}
        self._dynamic: dict[tuple[str, str], str] = {}

    def tell(self) -> Login:
        """Live through it."""
        login = Login(OWNER, secrets.token_urlsafe(12))
        with _sandbox(self._service, self._clock) as self._sandbox:
            self._owner = self._founded(login)
            for day in range(DAYS - 1, -1, -1):
                for hour in BUSY if day < 7 else QUIET:
                    self._move_to(self._moment(day, hour))
                    self._happen(day, hour)
                    self._work()
            self._today()
        return login

    def _founded(self, login: Login) -> User:
        service = self._service
        owner = users.create(service.store, self._clock, email=login.email, password=login.password, role="owner")
        self._project = projects.create(
            service, name=PRODUCT, app_name=PRODUCT, support_email="help@fernhollow.example", brand_hue=150
        )
        with service.store.write() as tx:
            demo.mark(tx, PRODUCT, self._end)
        return owner

    def _happen(self, day: int, hour: int) -> None:
        """What happens at one moment of the day that was ``day`` days ago: what is told of it, and the usual."""
        if hour == MORNING:
            for event in self._chapters.get(day, ()):
                event()
        self._usual(day, hour)

    @cached_property
    def _chapters(self) -> Mapping[int, Sequence[Callable[[], object]]]:
        """What happens on the morning of a day, by how many days ago that was."""
        owner, mira, tomas, yuki = (self._owner.id, *CUSTOMERS)
        works, chooses = partial(self._agent_works, AGENT), self._sandbox.receiver.choose
        return {
            29: [
                partial(self._connect, owner, "per_ada"),
                partial(self._connect, mira, "per_ada"),
                partial(self._connect, demo.VISITOR, "per_ada"),
                partial(self._deploy, owner, "per_ada", HARBOUR, "orders"),
            ],
            27: [partial(self._connect, tomas, "per_grace"), partial(self._deploy, mira, "per_ada", BAKERY, "orders")],
            22: [partial(self._connect, yuki, "per_linus")],
            20: [partial(self._deploy, owner, "per_ada", BAKERY, "old-shop"), works],
            16: [
                partial(self._connect, owner, "per_grace"),
                partial(self._deploy, owner, "per_grace", HARBOUR, "warehouse"),
            ],
            13: [works],
            12: [partial(chooses, "warehouse", "500")],  # until its webhook is switched off, five days later
            11: [partial(self._agent_asks, AGENT, yes=True)],
            9: [
                partial(self._connect, tomas, "per_linus"),
                partial(self._deploy, tomas, "per_linus", BAKERY, "orders"),
                partial(self._connect, owner, "per_linus", "revoking"),
            ],
            8: [partial(self._check, owner, "per_linus"), works],  # the sandbox renews the access, and takes it back
            7: [partial(self._check, owner, "per_linus")],
            6: [partial(chooses, "old-shop", "410"), works],
            5: [
                lambda: removal.delete(self._service, self._account(tomas, "per_linus")),
                partial(self._agent_works, OTHER_AGENT),
                partial(self._end_agent, OTHER_AGENT),
            ],
            4: [works],
            3: [
                lambda: health.revoke(self._service, self._account(yuki, "per_linus")),
                partial(self._agent_asks, AGENT, yes=False),
            ],
            2: [works],
            1: [works],
        }

    def _usual(self, day: int, hour: int) -> None:
        """The product's server creates tasks and looks for some; now and then that fails."""
        for _ in range(self._draw.randrange(1, 3)):
            self._create_task(self._owner.id, "per_ada", HARBOUR)
        if day < 28:
            self._create_task("customer-mira", "per_ada", BAKERY)
        if day < 27 and (day + hour) % 3 == 0:
            self._find_tasks("customer-tomas", "per_grace")
        if day % 5 == 2 and hour == MORNING:
            self._create_task("customer-mira", "per_ada", BAKERY, TOO_LONG)
        if day % 6 == 3 and hour == MORNING:
            self._call("GET", "accounts/apn_forgotten")

    def _today(self) -> None:
        """The last hour: an account in trouble, a connection that has just begun, a call that waits."""
        self._move_to(self._end - 10 * MINUTE)
        token_refresh.refresh(self._service, self._account(self._owner.id, "per_grace"))  # good for an hour
        newest = self._sandbox.grants.live(self._sandbox.client.client_id)
        grant = next(grant for grant in newest if grant.person.id == "per_grace")
        self._sandbox.grants.set_behaviour(grant.id, BEHAVIOURS["trouble"])
        for _ in retry_times.BACK_OFF:  # until it is tried again only after an hour
            self._check(self._owner.id, "per_grace")
        self._find_tasks(self._owner.id, "per_grace")
        self._work()
        self._move_to(self._end - 5 * MINUTE)
        self._sign_in("customer-yuki", self._asked("customer-yuki"))
        self._move_to(self._end)
        self._agent_works(AGENT)
        self._agent_asks(AGENT, yes=None)

    def _moment(self, day: int, hour: int) -> int:
        """``hour`` o'clock, some minutes past, ``day`` days ago; never later than the end."""
        midnight = self._end - self._end % DAY
        return min(midnight - day * DAY + hour * HOUR + self._draw.randrange(40) * MINUTE, self._end - 2 * HOUR)

    def _move_to(self, at: int) -> None:
        self._clock.at = max(self._clock.at, at)

    # What people do

    def _asked(self, user: str) -> str:
        """A Connect token that the product's server asks for."""
        answer = self._call("POST", "tokens", {"external_user_id": user})
        return str(answer["token"])

    def _sign_in(self, user: str, text: str) -> SignInStart:
        """A person on the Connect Link goes to the sandbox."""
        service, token = self._service, connect_tokens.verify(self._service, text)
        app = service.app("sandbox")
        _, secret = attempts.create(service, token, AttemptRequest(app.slug, oauth_apps.SANDBOX_ID))
        scopes = [scope.scope for scope in app.spec.oauth.scopes] if app.spec.oauth else []
        return attempts.start(
            service, secret, scopes=scopes, scope_profile=None, oauth_app_id=oauth_apps.SANDBOX_ID, mode="tab"
        )

    def _connect(self, user: str, person: str, behaviour: str = "normal") -> None:
        """``user`` connects the account of ``person`` at the sandbox, which behaves as chosen there."""
        service, text = self._service, self._asked(user)
        token, started = connect_tokens.verify(service, text), self._sign_in(user, text)
        app, client = service.app("sandbox"), oauth_apps.get(service.store, oauth_apps.SANDBOX_ID)
        redirect_uri, code = redirect_uris.of(service, client.callback), secrets.token_urlsafe(32)
        self._sandbox.grants.allow(
            code,
            self._sandbox.client.client_id,
            next(known for known in PEOPLE if known.id == person),
            " ".join(started.attempt.scopes),
            BEHAVIOURS[behaviour],
            redirect_uri,
            create_s256_code_challenge(started.verifier),
        )
        attempt = attempts.claim_sign_in(service, started.attempt, started.binding)
        named = provider.oauth_provider(service, app, client, {})
        outbound = service.client_for(app)
        grant = oauth.exchange_code(outbound, named, code=code, redirect_uri=redirect_uri, verifier=started.verifier)
        if isinstance(grant, OAuthFailure):
            raise PatchbayError(grant.sentence)
        self._accounts[user, person] = connections.connect_with_grant(
            service,
            token,
            app,
            client,
            grant,
            requested=attempt.scopes,
            profile=None,
            fields={},
            account_id=None,
            on_commit=attempts.record_connected(attempt),
        )

    def _check(self, user: str, person: str) -> None:
        health.check(self._service, self._account(user, person))

    def _account(self, user: str, person: str) -> Account:
        return account_state.reread(self._service.store, self._accounts[user, person])

    # What the product's server does

    @cached_property
    def _server(self) -> tuple[Flask, OAuthClient]:
        """The API, and the OAuth client of the product's server."""
        client, _ = oauth_clients.create(self._service, name=f"{PRODUCT} server", project_id=self._project.id)
        app = Flask(__name__)
        api.register(app, self._service)
        return app, client

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the API answers to the product's server."""
        app, client = self._server
        token = access_tokens.issue(self._service, client, None).token
        answer = app.test_client().open(
            f"/v1/connect/{self._project.id}/{path}",
            method=method,
            json=body,
            headers={"Authorization": f"Bearer {token}", "x-pd-environment": self._scene.environment},
            base_url=self._service.settings.public_url,
        )
        read: dict[str, Any] = answer.get_json()
        return read

    @property
    def _scene(self) -> Scene:
        return Scene(self._project.id, projects.environment(self._service.settings.environment))

    def _deploy(self, user: str, person: str, project: str, receiver: str) -> None:
        """Watch ``project`` for new tasks, and send them to one of the sandbox's receivers."""
        props = {"account": {"authProvisionId": self._accounts[user, person].id}, "project_id": project}
        url = f"{self._service.settings.sandbox_url}/receiver/{receiver}"
        body = {"id": "sandbox-new-task", "external_user_id": user, "configured_props": props, "webhook_url": url}
        self._call("POST", "triggers/deploy", body)

    def _create_task(self, user: str, person: str, project: str, title: str = "") -> None:
        account = {"account": {"authProvisionId": self._accounts[user, person].id}, "project_id": project}
        body = {"id": "sandbox-create-task", "external_user_id": user, "configured_props": account}
        if (user, project) not in self._dynamic:
            reloaded = self._call("POST", "actions/props", body)
            self._dynamic[user, project] = reloaded["dynamicProps"]["id"]
        values = {**account, "title": title or next(self._titles)}
        further = {"configured_props": values, "dynamic_props_id": self._dynamic[user, project]}
        self._call("POST", "actions/run", {**body, **further})

    def _find_tasks(self, user: str, person: str) -> None:
        values = {"account": {"authProvisionId": self._accounts[user, person].id}, "limit": 5}
        body = {"id": "sandbox-find-tasks", "external_user_id": user, "configured_props": values}
        self._call("POST", "actions/run", body)

    # What agents do

    def _agent(self, name: str) -> AgentSession:
        entry = Entry("client", self._server[1].id)
        return sessions.enter(self._service, self._scene, self._owner.id, entry, name)

    def _agent_request(self, key: str, agent: str, values: Mapping[str, Any]) -> ComponentRequest:
        component = component_requests.find(self._service, key, None, "action")
        account = {"account": {"authProvisionId": self._accounts[self._owner.id, "per_ada"].id}}
        return ComponentRequest(self._scene, self._owner.id, component, {**account, **values}, agent=agent)

    def _agent_works(self, name: str) -> None:
        """An agent looks around, which nobody needs to allow."""
        self._agent(name)
        components.run(self._service, self._agent_request("sandbox-find-tasks", name, {"text": "fern", "limit": 3}))
        components.run(self._service, self._agent_request("sandbox-list-projects", name, {}))

    def _agent_asks(self, name: str, *, yes: bool | None) -> None:
        """An agent wants to delete the newest task; the owner answers, or with None has not seen it yet."""
        agent = self._agent(name)
        answer = components.run(self._service, self._agent_request("sandbox-find-tasks", name, {"limit": 1}))
        task = answer["ret"]["tasks"][0]
        values = {"project_id": task["project_id"], "task_id": task["id"]}
        request = self._agent_request("sandbox-delete-task", name, values)
        approval = approvals.ask(self._service, request, agent)
        if yes is None:
            return
        self._clock.advance(2 * MINUTE)
        user = external_users.get(self._service.store, self._scene, self._owner.id)
        decided = approvals.decide(self._service, user, approval.id, yes=yes)
        if yes and approvals.claim(self._service, decided):
            components.run(self._service, request)

    def _end_agent(self, name: str) -> None:
        user = external_users.get(self._service.store, self._scene, self._owner.id)
        approvals.end_session(self._service, user, self._agent(name).id)

    # What the worker does

    def _work(self) -> None:
        """Renew and test what is due, poll, and make one attempt at each delivery that is due."""
        service = self._service
        for trigger in trigger_lifecycle.claim_polls(service, 100):
            fire.poll(service, trigger)
        self._clock.advance(MINUTE)
        with service.store.write() as tx:
            tasks = claims.claim(tx, service.clock(), lambda _endpoint, _count: 100, service.generation)
        outcomes = [self._sender.send(task) for task in tasks]
        with service.store.write() as tx:
            claims.finish(tx, outcomes, service.clock())


@contextmanager
def _sandbox(service: Service, clock: FakeClock) -> Iterator[Sandbox]:
    """The sandbox over its folder in the installation, by ``clock``; it answers on its port until the block ends."""
    settings = service.settings
    client_id, client_secret = oauth_apps.ensure_sandbox(service)
    app = create_sandbox(
        settings.data / "sandbox",
        settings.sandbox_url,
        client_id,
        client_secret,
        [redirect_uris.of_new_client(service, "sandbox")],
        assets.templates_dir(),
        assets.static_dir(),
        clock=clock,
    )
    # SQLite clears its log away whenever the last connection is closed, and the sandbox opens one for each request.
    with Store(settings.data / "sandbox").read(), _answering(app, settings):
        yield app.extensions[EXTENSION]


@contextmanager
def _answering(app: Flask, settings: Settings) -> Iterator[None]:
    try:
        listeners = listen(settings.host, settings.sandbox_port)
    except OSError as error:
        raise click.ClickException(
            f"Port {settings.sandbox_port} on {settings.host} cannot be used ({reason(error)}); stop what uses it, or "
            "set PATCHBAY_SANDBOX_PORT to another."
        ) from error
    listeners, others = listeners[:1], listeners[1:]
    server = make_server(
        settings.host, settings.sandbox_port, app, threaded=True, request_handler=_Silent, fd=listeners[0].fileno()
    )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="sandbox")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        for listener in (*listeners, *others):
            listener.close()


class _Silent(WSGIRequestHandler):
    """Answers without a line in the log for each request, and keeps connections (RFC 9112 section 9.3)."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""
