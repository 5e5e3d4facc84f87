"""The served product with one of everything in it, and names for each: what the examples of the reference stand on."""

import base64
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from authlib.integrations.requests_client import OAuth2Session

from tests.fakes import public_directory
from tests.fakes.npm_registry import NpmRegistry, package, registry
from tests.fakes.served import Served, served
from tests.service.domain.agents.planted import plant_agent, plant_approval
from tests.service.domain.pieces.planted import plant_pieces
from webapp.kit.clock import now
from webapp.kit.crypto import new_id
from webapp.people import invitations, users
from webapp.service.api.base.operations import USER
from webapp.service.catalog.importing import documents, files
from webapp.service.catalog.importing.extensions import Choice, Extended, Origin, extend
from webapp.service.catalog.importing.plans import plan
from webapp.service.catalog.importing.records import Options
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.accounts import account_state, credentials, oauth_apps, redirect_uris
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.domain.deliveries import workflows
from webapp.service.domain.instance import api_extensions
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import external_users, projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

DOCUMENT = (
    b'{"openapi": "3.1.0", "info": {"title": "Acme"}, "servers": [{"url": "https://api.example.com"}],'
    b' "paths": {"/me": {"get": {}}}}'
)
WEBHOOK = "https://app.example.com/events"


@dataclass
class Workspace:
    """A running product; ``names`` are the values of the examples' variables."""

    product: Served
    names: dict[str, str]

    def call(self, method: str, path: str, **more: Any) -> requests.Response:
        """One call by a server, of a path below the project or an absolute one."""
        headers = {"Authorization": f"Bearer {self.names['TOKEN']}", "x-pd-environment": "development"}
        path = path if path.startswith("/") else f"/v1/connect/{self.names['PROJECT_ID']}/{path}"
        answer = requests.request(method, self.product.url + path, headers=headers, timeout=60, **more)
        assert answer.ok, (method, path, answer.status_code, answer.text)
        return answer


@contextmanager
def workspace(data: Path) -> Iterator[Workspace]:
    """Serve the product over ``data`` and fill it."""
    with registry() as npm, served(data, PATCHBAY_PIECE_REGISTRY=npm.url) as product:
        npm.publish(package("@activepieces/piece-shop"))
        port = urlsplit(product.url).port
        service = open_service(Settings.from_env({"PATCHBAY_PORT": str(port)}, data=data))
        public_directory.brought(data, data.parent)
        try:
            yield _filled(Workspace(product, {"PATCHBAY": product.url}), service, npm)
        finally:
            close_service(service)


def _filled(made: Workspace, service: Service, npm: NpmRegistry) -> Workspace:
    client, secret = oauth_clients.create(service, name="Examples")
    project, other = projects.create(service, name="Acme"), projects.create(service, name="To delete")
    scene = Scene(project.id, "development")
    people = {name: _login(service, name) for name in ("LOGIN_ID", "OTHER_LOGIN_ID", "LOGIN_TO_DELETE_ID")}
    invited = {
        name: invitations.invite(service.store, now, email=f"{name.lower()}@example.com", role="member")[0].id
        for name in ("INVITATION_ID", "INVITATION_TO_DELETE_ID")
    }
    further = {
        name: oauth_clients.create(service, name=name)[0].id for name in ("OTHER_CLIENT_ID", "CLIENT_TO_DELETE_ID")
    }
    made.names |= {
        **people,
        **invited,
        **{
            name: workflows.add(service, scene, name=name, url=f"https://app.example.com/{name.lower()}").id
            for name in ("WORKFLOW_ID", "WORKFLOW_TO_DELETE_ID")
        },
        **further,
        "IMPORTED_APP": _imported(service),
        "EXTENDED_APP": _extended(service, npm),
        **plant_pieces(service),
        "CLIENT_ID": client.id,
        "CLIENT_SECRET": secret,
        "TOKEN": access_tokens.issue(service, client, None).token,
        "PROJECT_ID": project.id,
        "OTHER_PROJECT_ID": other.id,
        "CTOK": str(connect_tokens.create(service, scene, connect_tokens.TokenRequest(USER), client_id=None)["token"]),
        "ACCOUNT_ID": _account(service, scene, made.product.sandbox_url),
        "OTHER_ACCOUNT_ID": _account(service, scene, made.product.sandbox_url),
        "CATEGORY_ID": service.catalog.categories()[0].id,
        "SINCE": str(now() // 1000 - 3600),
        "UNTIL": str(now() // 1000 + 3600),
    }
    with service.store.write() as tx:
        external_users.ensure(tx, scene, "user-to-delete", now())
    agent = plant_agent(service, scene, USER)
    made.names["AGENT_ID"] = agent.id
    for name in ("APPROVAL_ID", "OTHER_APPROVAL_ID"):
        made.names[name] = plant_approval(service, scene, agent).id
    _files(made, service, scene)
    _over_the_api(made)
    return made


def _imported(service: Service) -> str:
    """An app that is to go; the running product takes it in by itself."""
    planned = plan(documents.read(DOCUMENT), "imported", Options(auth="bearer"))
    return files.write(planned, service.settings.data, None, "a document", now()).plan.slug


def _extended(service: Service, npm: NpmRegistry) -> str:
    """An app whose whole API, which is a small one, was added; a newer release of it is published."""
    app = api_extensions.app(service, "github")
    (view,) = api_extensions.views(service, app)
    name = view.place.package.removeprefix("npm:")
    npm.publish(package(name, "99.0.0", files={view.place.path: DOCUMENT.decode()}))
    origin = Origin(view.place.package, view.place.version, view.place.integrity, view.place.path, now())
    extend(service.settings.data, Extended(app.spec, ()), view.facts, origin, DOCUMENT, Choice())
    return app.slug


def _login(service: Service, name: str) -> str:
    """A person's login; the first is the owner's."""
    role = "member" if users.any_user(service.store) else "owner"
    email = f"{name.lower()}@example.com"
    return users.create(service.store, now, email=email, password="a long enough password", role=role).id


def _account(service: Service, scene: Scene, sandbox_url: str) -> str:
    """An account at the sandbox, with real tokens."""
    values = _signed_in(service, sandbox_url)
    account_id, at = new_id("apn"), now()
    with service.store.write() as tx:
        sealed, version = credentials.seal(service, tx, scene.project_id, account_id, values)
        user = external_users.ensure(tx, scene, USER, at)
        account_state.insert(
            tx,
            Account(
                scene=scene, healthy=True, dead=False, authorized_scopes=("profile", "tasks:read", "tasks:write"),
                id=account_id, external_user_id=user.id, external_id=USER, app="sandbox",
                oauth_app_id=oauth_apps.SANDBOX_ID, name=None, identity_id="per_ada", identity_name="Ada",
                error=None, scope_profile=None, credentials_sealed=sealed, credentials_key=version, expires_at=None,
                last_refreshed_at=None, next_refresh_at=None, last_checked_at=None, next_check_at=None, failures=0,
                lease_until=0, revision=0, created_at=at, updated_at=at,
            ),
        )  # fmt: skip
    return account_id


def _signed_in(service: Service, sandbox_url: str) -> dict[str, str]:
    """A person's consent at the sandbox, as its pages ask for it."""
    callback, verifier = redirect_uris.of_new_client(service, "sandbox"), secrets.token_urlsafe(48)
    with OAuth2Session(
        *oauth_apps.ensure_sandbox(service), scope="profile tasks:read tasks:write webhooks",
        redirect_uri=callback, code_challenge_method="S256", token_endpoint_auth_method="client_secret_post",
    ) as client:  # fmt: skip
        address, _ = client.create_authorization_url(f"{sandbox_url}/oauth/authorize", code_verifier=verifier)
        with requests.Session() as browser:
            page = browser.get(address, timeout=20)
            hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page.text)
            form = {unescape(name): unescape(value) for name, value in hidden}
            form |= {"person": "per_ada", "behaviour": "normal", "decision": "allow"}
            sent = browser.post(f"{sandbox_url}/oauth/authorize", data=form, allow_redirects=False, timeout=20)
        code = parse_qs(urlsplit(sent.headers["Location"]).query)["code"][0]
        token = client.fetch_token(f"{sandbox_url}/oauth/token", code=code, code_verifier=verifier)
    return {"oauth_access_token": token["access_token"], "oauth_refresh_token": token["refresh_token"]}


def _files(made: Workspace, service: Service, scene: Scene) -> None:
    with service.store.write() as tx:
        key = file_stash.keep(service, tx, scene, USER, None, "notes.txt", "text/plain", b"hello")
    made.names["S3_KEY"], made.names["FILE_ID"] = key, key.split("/")[5]
    unused = file_stash.upload(service, scene, USER, "unused.txt", b"hello")
    made.names["FILE_TO_DELETE_ID"] = unused.id
    announced = file_stash.announce(scene, USER, "report.txt")
    made.names["UPLOAD_TICKET"] = file_stash.upload_link(service, announced).rpartition("/")[2]
    made.names["TICKET"] = file_stash.link(service, key).rpartition("/")[2]
    keys = requests.get(f"{made.product.sandbox_url}/keys", timeout=20).text
    made.names["SANDBOX_KEY"] = re.findall(r"sbx_live_\w+", keys)[0]


def _over_the_api(made: Workspace) -> None:
    """What the API itself can make."""
    owner = {"external_user_id": USER}
    for name, app in (("", "github"), ("GOOGLE_", "gmail"), ("NOTION_", "notion"), ("SANDBOX_", "sandbox")):
        created = made.call("POST", "oauth_apps", json={"app": app, "client_id": "one", "client_secret": "two"})
        made.names[f"{name}OAUTH_APP_ID"] = created.json()["id"]
    events = f"{made.product.url}/h/app/notion/{made.names['NOTION_OAUTH_APP_ID']}"
    assert requests.post(events, json={"verification_token": "secret_1"}, timeout=20).ok
    preset = made.call("POST", "app_overrides", json={"app": "gitlab", "name": "Ours", "cfmap": {}})
    made.names["APP_OVERRIDE_ID"] = preset.json()["id"]
    logo = {"logo": "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="}
    made.call("POST", f"/v1/connect/projects/{made.names['PROJECT_ID']}/logo", json=logo)
    given = {"account": {"authProvisionId": made.names["ACCOUNT_ID"]}}
    made.call("POST", "actions/run", json={"id": "sandbox-list-projects", **owner, "configured_props": given})
    made.names["RUN_ID"] = made.call("GET", "runs").json()["data"][0]["id"]
    timer = {"id": "schedule-custom-interval", **owner, "configured_props": {"cron": {"intervalSeconds": 900}}}
    for name in ("TRIGGER_ID", "OTHER_TRIGGER_ID"):
        deployed = made.call("POST", "triggers/deploy", json={**timer, "webhook_url": WEBHOOK})
        made.names[name] = deployed.json()["data"]["id"]
    trigger = f"deployed-triggers/{made.names['TRIGGER_ID']}"
    made.call("POST", f"{trigger}/test_event", params=owner, json={"event": {"n": 1}})
    made.names["WEBHOOK_ID"] = made.call("GET", f"{trigger}/webhooks", params=owner).json()["webhooks"][0]["id"]
    for name in ("GENERAL_WEBHOOK_ID", "GENERAL_WEBHOOK_TO_DELETE_ID"):
        general = {"url": WEBHOOK, "name": name, "description": ""}
        made.names[name] = made.call("POST", "/v1/webhooks", params=general).json()["data"]["id"]
    sent = made.call("GET", f"{trigger}/deliveries", params=owner).json()["data"]
    made.names["DELIVERY_ID"] = sent[0]["id"]
    made.names["TASK_64"] = _task(made)


def _task(made: Workspace) -> str:
    """The address of a task that the proxy made."""
    at = base64.urlsafe_b64encode(b"/api/projects/prj_001/tasks").decode()
    query = {"external_user_id": USER, "account_id": made.names["ACCOUNT_ID"]}
    task = made.call("POST", f"proxy/{at}", params=query, json={"title": "A task", "fields": {}}).json()
    return base64.urlsafe_b64encode(f"/api/tasks/{task['id']}".encode()).decode().rstrip("=")
