"""A Connect service that speaks the contract out of a few dictionaries, and the dashboard in front of it.

The fake stands in for any Connect-compatible service: the dashboard must get along with one that it does not share
a process, a store or extensions with. The tests that run against the embedded service are with the application's.
"""

import base64
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, Response, g, jsonify, request
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.dashboard.build import fake_oauth_apps
from tests.dashboard.build.fake_oauth_apps import Registry
from tests.dashboard.embedded import Embedded
from tests.dashboard.trigger import fake_triggers
from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.once import stores as databases
from tests.once.catalog import linked
from tests.people.openid import FakeOpenId
from tests.people.test_logins import Belongings
from webapp.dashboard import wiring
from webapp.dashboard.client.in_process import InProcess
from webapp.dashboard.dashboard import KEY, Viewer
from webapp.errors import Detail
from webapp.kit import assets
from webapp.kit.clock import HOUR, MINUTE, FakeClock, iso
from webapp.people import sessions, users
from webapp.people.agents.documents import Documents
from webapp.people.openid_provider import OpenIdProvider
from webapp.people.start_tokens import ProjectNames
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings
from webapp.store.contract import Tx
from webapp.store.sqlite import SQLiteStore

PROJECT = "proj_Fake1"
PASSWORD = "a long password"
PUBLIC = "http://localhost"
SET_UP = {
    "redirect_uri": "https://connect.example.com/callback",
    "console_url": "https://api.slack.com/apps",
    "steps": ["Make an app.", "Copy its id."],
}
EXTRA = {"patchbay", "identity", "last_checked_at", "next_check_at", "oauth_app_id", "scope_profile"}


@dataclass
class FakeConnect:
    """The service's data and moods. ``down``, ``throttled`` and ``extensions`` can be switched at any time."""

    clock: FakeClock
    public: str = PUBLIC
    apps: list[dict[str, Any]] = field(default_factory=list)
    categories: list[dict[str, Any]] = field(default_factory=list)
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    uses: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    siblings: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    history: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    log_entries: list[dict[str, Any]] = field(default_factory=list)
    log_books: list[Callable[[str], list[dict[str, Any]]]] = field(default_factory=list)  # more entries of a user
    audit_entries: list[dict[str, Any]] = field(default_factory=list)
    down: bool = False
    throttled: bool = False
    extensions: bool = True
    healthy_after_test: bool = True
    seen: list[tuple[str, str, str, dict[str, Any]]] = field(default_factory=list)  # method, path, token, environ
    oauth: set[str] = field(default_factory=set)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.wsgi = _service(self)

    def add_app(self, slug: str, name: str, auth: str = "oauth", **more: Any) -> dict[str, Any]:
        app = {
            "id": "app_" + slug.replace("-", "x"), "name_slug": slug, "name": name, "img_src": "",
            "custom_fields_json": "[]", "categories": [], "featured_weight": 0, "description": f"All about {name}.",
            "auth_type": auth, "scope_profiles": [], "oauth_app_id": None,
        } | more  # fmt: skip
        self.apps.append(app)
        return app

    def add_account(self, user: str, app: str, **more: Any) -> dict[str, Any]:
        number = len(self.accounts)
        made = self.clock() - 3 * HOUR - number
        found = next(item for item in self.apps if item["name_slug"] == app)
        account = {
            "id": f"apn_{number:06d}x", "name": None, "external_id": user, "healthy": True, "dead": False,
            "error": None, "app": {key: value for key, value in found.items() if key != "patchbay"},
            "created_at": iso(made), "updated_at": iso(made),
            "authorized_scopes": [], "last_refreshed_at": None, "next_refresh_at": None,
            "identity": {"id": "1", "name": f"ada{number}@example.com"}, "last_checked_at": iso(made + HOUR),
            "next_check_at": None, "oauth_app_id": None, "scope_profile": None,
            "credentials": {"oauth_access_token": "canary-access-token"},
        } | more  # fmt: skip
        self.accounts[str(account["id"])] = account
        return account

    def calls(self, ending: str) -> list[tuple[str, str, str, dict[str, Any]]]:
        return [call for call in self.seen if call[1].endswith(ending)]


def _service(fake: FakeConnect) -> Flask:
    app = Flask("fake_connect")
    base = f"/v1/connect/{PROJECT}"

    def problem(code: int, sentence: str, **headers: str) -> Response:
        response = jsonify(error=sentence)
        response.status_code = code
        response.headers.update(headers)
        return response

    @app.before_request
    def admit() -> Response | None:
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        fake.seen.append((request.method, request.path, bearer, dict(request.environ)))
        if fake.down:
            return Response("<h1>Bad gateway</h1>", 502)
        if fake.throttled:
            return problem(429, "Throttled", **{"Retry-After": "17", "X-RateLimit-Limit": "3"})
        if request.path == "/v1/oauth/token":
            return None
        if request.path == base + "/tokens":
            return None if bearer in fake.oauth else problem(401, "Send a valid token.")
        everybodys = (base + "/audit", base + "/oauth_apps", base + "/app_overrides", "/v1/imported_apps")
        if request.path.startswith(everybodys):
            return None if bearer in fake.oauth else problem(403, "Not with this token.")
        if bearer not in fake.tokens:
            return problem(401, "Send a valid token.")
        if request.path.startswith(base) and request.headers.get("x-pd-environment") != "development":
            return problem(403, "Wrong environment.")
        return None

    def user() -> str:
        return str(fake.tokens[request.headers["Authorization"].removeprefix("Bearer ")]["external_user_id"])

    def listed(items: list[dict[str, Any]]) -> Response:
        limit = int(request.args.get("limit", 20))
        assert 1 <= limit <= 100
        after = request.args.get("after")
        first = int(base64.b64decode(after)) if after else 0
        page = items[first : first + limit]
        end = base64.b64encode(str(first + limit).encode()).decode() if first + limit < len(items) else ""
        info = {"count": len(page), "total_count": len(items), "start_cursor": "x", "end_cursor": end}
        return jsonify(data=page, page_info=info)

    def shown(item: dict[str, Any]) -> dict[str, Any]:
        """Without what is an extension, unless it was asked for and is there."""
        if fake.extensions and (request.args.get("extensions") == "true" or request.method == "PATCH"):
            return item
        return {key: value for key, value in item.items() if key not in EXTRA}

    def own(account_id: str) -> dict[str, Any] | None:
        account = fake.accounts.get(account_id)
        return account if account and account["external_id"] == user() else None

    @app.post("/v1/oauth/token")
    def token() -> Response:
        if request.json != {"grant_type": "client_credentials", "client_id": "client", "client_secret": "secret"}:
            return problem(401, "invalid_client")
        made = secrets.token_hex(8)
        fake.oauth.add(made)
        return jsonify(access_token=made, token_type="Bearer", expires_in=3600)

    @app.post(base + "/tokens")
    def connect_token() -> Response:
        made = "ctok_" + secrets.token_hex(16)
        fake.tokens[made] = dict(request.json or {})
        link = f"{fake.public}/_static/connect.html?token={made}&connectLink=true"
        return jsonify(token=made, expires_at=iso(fake.clock() + 4 * HOUR), connect_link_url=link)

    @app.get("/v1/connect/apps")
    def apps() -> Response:
        found = list(fake.apps)
        args = request.args
        if args.get("q"):
            found = [item for item in found if args["q"].lower() in item["name"].lower()]
        filters = {item["name"] for item in fake.categories if item["id"] in args.getlist("category_ids")}
        if args.getlist("category_ids"):
            found = [item for item in found if filters & set(item["categories"])]
        if fake.extensions:
            without, ready = (args.get(name, "") for name in ("without", "ready"))
            found = [item | {"patchbay": {"ready": True} | item.get("patchbay", {})} for item in found]
            found = [item for item in found if item["name_slug"] not in without.split(",")]
            found = [item for item in found if not ready or item["patchbay"]["ready"] == (ready == "true")]
        if args.get("has_actions") == "true":
            found = [item for item in found if item.get("patchbay", {}).get("actions")]
        found.sort(key=lambda item: item[args["sort_key"]], reverse=args["sort_direction"] == "desc")
        if not fake.extensions or not args.get("states"):
            return listed([shown(item) for item in found])
        own, groups = args.get("connected", "").split(","), dict[str, list[Any]](connected=[], ready=[], setup=[])
        for item in found:
            state = "ready" if item["patchbay"]["ready"] else "setup"
            groups["connected" if item["name_slug"] in own else state].append(shown(item))
        wanted = args["states"].split(",")
        body = listed([item for state, items in groups.items() if state in wanted for item in items]).get_json()
        counts = {state: len(items) for state, items in groups.items()}
        categories = {each["id"]: sum(each["name"] in item["categories"] for item in found) for each in fake.categories}
        return jsonify({**body, "counts": {"states": counts, "categories": categories}})

    @app.get("/v1/connect/apps/<slug>")
    def one_app(slug: str) -> Response:
        found = next((item for item in fake.apps if slug in (item["name_slug"], item["id"])), None)
        return jsonify(data=shown(found)) if found else problem(404, "There is no such app.")

    @app.get("/v1/connect/app_categories")
    def categories() -> Response:
        return jsonify(fake.categories) if fake.extensions else problem(404, "Not here.")

    @app.get(base + "/accounts")
    def accounts() -> Response:
        assert request.args["external_user_id"] == user()
        filters = request.args.get("app")
        mine = [item for item in fake.accounts.values() if item["external_id"] == user()]
        return listed([shown(item) for item in mine if not filters or item["app"]["name_slug"] == filters])

    @app.route(base + "/accounts/<account_id>", methods=["GET", "DELETE", "PATCH"])
    def account(account_id: str) -> Response:
        found = own(account_id)
        if found is None or (request.method == "PATCH" and not fake.extensions):
            return problem(404, "There is no such account.")
        if request.method == "DELETE":
            del fake.accounts[account_id]
            return Response(status=204)
        if request.method == "PATCH":
            name = (request.json or {})["name"]
            if name == "taken":
                return problem(400, "That name is taken; choose another.")
            if len(name or "") > 200:
                return problem(400, "The name is not valid: Use at most 200 printable characters.")
            found["name"] = name
        return jsonify(shown(found))

    @app.route(base + "/accounts/<account_id>/<verb>", methods=["GET", "POST"])
    def extension(account_id: str, verb: str) -> Response:
        found = own(account_id)
        if found is None or not fake.extensions:
            return problem(404, "There is no such account.")
        if verb == "test":
            found.update(healthy=fake.healthy_after_test, error=None if fake.healthy_after_test else "It said no.")
            return jsonify(healthy=found["healthy"], dead=False, error=found["error"], checked_at=iso(fake.clock()))
        if verb == "revoke":
            if found["app"]["auth_type"] != "oauth":
                return problem(409, "Keys are revoked where they were made.")
            found.update(healthy=False, dead=True, error="The access was revoked from here.")
            return jsonify(found)
        lists = {"uses": fake.uses, "siblings": fake.siblings}
        return listed(lists.get(verb, fake.history).get(account_id, []))

    def every_entry() -> list[dict[str, Any]]:
        found = [*fake.log_entries, *(entry for book in fake.log_books for entry in book(user()))]
        return sorted(found, key=lambda entry: str(entry["at"]), reverse=True)

    @app.get(base + "/logs")
    def log_list() -> Response:
        assert request.args["external_user_id"] == user()
        if not fake.extensions:
            return problem(404, "Not here.")
        if request.args.get("after") == "broken":
            return problem(400, "The cursor is broken; start again without it.")
        filters = {name: request.args[name] for name in ("app", "kind", "status") if name in request.args}
        entries = [item for item in every_entry() if all(item[name] == value for name, value in filters.items())]
        if (about := request.args.get("id")) is not None:
            subjects = ("id", "account_id", "trigger_id", "event_id", "component_key")
            entries = [item for item in entries if about in [item.get(name) for name in subjects]]
        if request.args.get("quiet") != "true":
            quiet = {"emitted": 0, "outcome": "timer", "status": "succeeded"}
            entries = [item for item in entries if not quiet.items() <= item.items()]
        first, last = (iso(int(request.args.get(name, end))) for name, end in (("since", "0"), ("until", "9" * 13)))
        entries = [item for item in entries if first <= item["at"] <= last]
        page: dict[str, Any] = listed(entries).get_json()
        return jsonify(**page, counts=Counter(item["kind"] for item in entries))

    @app.get(base + "/logs/<entry_id>")
    def log_entry(entry_id: str) -> Response:
        entry = next((item for item in every_entry() if item["id"] == entry_id and fake.extensions), None)
        return problem(404, "There is no such entry in the logs.") if entry is None else jsonify(data=entry)

    @app.get(base + "/audit")
    def audit() -> Response:
        if not fake.extensions:
            return problem(404, "Not here.")
        if request.args.get("after") == "broken":
            return problem(400, "The cursor is broken; start again without it.")
        filters = {name: request.args[name] for name in ("noun", "subject_id", "actor") if name in request.args}
        return listed(
            [item for item in fake.audit_entries if all(item[name] == value for name, value in filters.items())]
        )

    return app


class Unsealed:
    """Seals nothing; that is the service's matter."""

    def seal(self, tx: Any, row: str, plain: bytes) -> bytes:
        return plain

    def open(self, row: str, box: bytes) -> bytes:
        return box


@dataclass
class NamedProject:
    """Stands in for the service's first project: what it is called, and what it was told to be called."""

    known: ProjectNames = field(default_factory=lambda: ProjectNames("", ""))
    saved: list[ProjectNames] = field(default_factory=list)

    def names(self) -> ProjectNames:
        return self.known

    def problems(self, names: ProjectNames) -> list[Detail]:
        return [] if "@" in names.support_email else [Detail("support_email", "That is no address.")]

    def save(self, _: Tx, names: ProjectNames) -> None:
        self.saved.append(names)


@dataclass
class Stage:
    """The dashboard, its service, its people's store and its clock."""

    app: Flask
    connect: FakeConnect
    store: SQLiteStore
    clock: FakeClock
    alice: users.User
    first_project: NamedProject
    openid: FakeOpenId

    def browser(self) -> "Browser":
        return Browser(self.app.test_client())

    @contextmanager
    def request(self, url: str = "/", person: users.User | None = None, **options: Any) -> Iterator[None]:
        """A request of alice's, or of ``person``'s, without its page: for what pages are made of."""
        with self.app.test_request_context(url, **options):
            g.person = person or self.alice
            g.viewer = Viewer(g.person.id, g.person.role, self.app.extensions[KEY].client)
            yield

    def signed_in(self, email: str = "alice@example.com") -> "Browser":
        """A browser with a session of that person's, without the form, which tests/dashboard/sign_in sends."""
        browser, person = self.browser(), users.by_email(self.store, email)
        assert person is not None
        token = sessions.start(self.store, self.clock, user_id=person.id, user_agent="", address="127.0.0.1")
        cookie = f"{self.app.extensions[KEY].settings.host_cookie}patchbay_session"
        browser.client.set_cookie(cookie, token, domain="localhost")
        return browser


@dataclass
class Browser:
    """A browser without JavaScript: it reads pages and sends the forms that stand on them."""

    client: FlaskClient

    def get(self, url: str, *, htmx: bool = False, follow: bool = False, **headers: str) -> TestResponse:
        if htmx:
            headers |= {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Current-URL": PUBLIC + url}
        return self.client.get(url, headers=headers, follow_redirects=follow)

    def send(self, url: str, data: dict[str, str] | None = None, *, htmx: bool = False) -> TestResponse:
        """POST with the form token of the page that this browser can see."""
        page = self.client.get("/sign-in")
        if page.status_code != 200:
            page = self.client.get("/settings")
        found = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
        assert found, page.text
        headers = {"HX-Request": "true", "HX-Request-Type": "partial"} if htmx else {}
        return self.client.post(url, data={"csrf_token": found[1]} | (data or {}), headers=headers)


@pytest.fixture
def make_stage(tmp_path: Path, migrated: Path) -> Iterator[Callable[..., Stage]]:
    stores: list[Any] = []

    def make(**env: str) -> Stage:
        clock = FakeClock()
        store = databases.opened(Path(shutil.copy(migrated, tmp_path / f"stage{len(stores)}.db")))
        stores.append(store)
        settings = Settings.from_env(env or {"PATCHBAY_PUBLIC_URL": PUBLIC})
        connect, first_project = FakeConnect(clock, settings.public_url), NamedProject()
        app = Flask(
            "webapp",
            template_folder=str(assets.templates_dir()),
            static_folder=str(assets.static_dir()),
            static_url_path="/static",
        )
        app.secret_key = "only a test"
        openid = FakeOpenId(clock)
        wiring.register(
            app, settings=settings, store=store, clock=clock, client_id="client", client_secret="secret",
            project=lambda: PROJECT, wsgi=lambda *call: connect.wsgi(*call),
            first_project=None if settings.connect_url else first_project, totp_sealer=Unsealed(),
            belongings=Belongings(),
            oidc=OpenIdProvider(openid.client, settings, clock) if settings.oidc_issuer else None,
            agent_documents=Documents(openid.client, store, clock),
        )  # fmt: skip
        alice = users.create(store, clock, email="alice@example.com", password=PASSWORD, role="owner")
        return Stage(app, connect, store, clock, alice, first_project, openid)

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def stage(make_stage: Callable[..., Stage]) -> Stage:
    """A dashboard with a few apps and no accounts."""
    made = make_stage()
    connect = made.connect
    connect.categories += [
        {"id": "appcat_dev", "name": "Developer tools", "description": "", "count": 2},
        {"id": "appcat_none", "name": "Empty one", "description": "", "count": 0},
    ]
    extras = {
        "connectable": True,
        "why_not": None,
        "docs_url": "https://docs.example.com/",
        "actions": 0,
        "triggers": 0,
    }
    words = [{"scope": "repo", "words": "See and change your repositories"}]
    connect.add_app("github", "GitHub", categories=["Developer tools"], featured_weight=90,
                    patchbay=extras | {"scopes": words})  # fmt: skip
    connect.add_app("stripe", "Stripe", "keys", featured_weight=50,
                    custom_fields_json='[{"name": "key", "label": "Secret key"}]',
                    patchbay=extras | {"scopes": []})  # fmt: skip
    connect.add_app("slack", "Slack", featured_weight=80,
                    patchbay=extras | {"scopes": [], "connectable": False, "ready": False, "set_up": SET_UP,
                                       "why_not": "Slack has no OAuth client yet."})  # fmt: skip
    connect.add_app("schedule", "Schedule", "none", categories=["Developer tools"])
    return made


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory, built_catalog: Path, migrated: Path) -> Iterator[Embedded]:
    """The embedded dashboard over a service of its own, whose project is Acme; one for each module of tests."""
    data, clock = tmp_path_factory.mktemp("studio"), FakeClock()
    shutil.copy(migrated, data)
    linked(built_catalog, data)
    settings = Settings.from_env({}, data=data)
    service = open_service(settings, clock)
    embedded = Embedded(service, settings, clock)
    clock.advance(1)  # projects that tests make are younger
    yield embedded
    close_service(service)


@pytest.fixture
def busy(stage: Stage) -> Stage:
    """The same with accounts: one of each state, and one of somebody else's."""
    connect, me = stage.connect, stage.alice.id
    working = connect.add_account(me, "github", authorized_scopes=["repo", "gist"], name="Work",
                                  next_refresh_at=iso(stage.clock() + 30 * MINUTE))  # fmt: skip
    connect.add_account(me, "github", healthy=False, error="GitHub took too long to answer.",
                        next_check_at=iso(stage.clock() + 5 * MINUTE))  # fmt: skip
    connect.add_account(me, "stripe", dead=True, healthy=False, error="Stripe refused the key.", name="Billing")
    connect.add_account("u_somebody", "github", name="Not yours")
    connect.uses[working["id"]] = [{"id": "dc_1", "name": "New issue in acme", "kind": "trigger", "state": "active"}]
    connect.history[working["id"]] = [
        {"id": "h2", "at": iso(stage.clock() - HOUR), "kind": "refreshed", "good": True, "sentence": "Access renewed."},
        {"id": "h1", "at": iso(stage.clock() - 2 * HOUR), "kind": "trouble", "good": False, "sentence": "It failed."},
    ]
    return stage


@pytest.fixture
def elsewhere(make_stage: Callable[..., Stage]) -> Stage:
    """The dashboard in front of another installation's service, which need not have our extensions."""
    stage = make_stage(
        PATCHBAY_CONNECT_URL="http://127.0.0.1:9",
        PATCHBAY_CONNECT_CLIENT_ID="client",
        PATCHBAY_CONNECT_CLIENT_SECRET="secret",
        PATCHBAY_PROJECT=PROJECT,
        PATCHBAY_PUBLIC_URL=PUBLIC,
    )
    transport = stage.app.extensions[KEY].client.transport
    transport.close()
    transport._sender = InProcess(lambda *call: stage.connect.wsgi(*call))
    return stage


@pytest.fixture
def tower(stage: Stage) -> Watchtower:
    """Deployed triggers at the service, none so far."""
    return fake_triggers.install(stage.connect)


@pytest.fixture
def registry(stage: Stage) -> Registry:
    """The project's own OAuth clients at the service, none so far."""
    return fake_oauth_apps.install(stage.connect)
