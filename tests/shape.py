"""The shape of the code, to be read in a review; no test fails by it. ``make shape`` prints two tables.

The first counts modules, lines and functions of each room of ``webapp``. The second counts the files of ``webapp`` that
five requests go through: a file counts when one of its functions runs while the request is answered, in the request's
thread or in one that it starts, and what wraps every request counts too. Importing a module does not count, and neither
does what runs in another process. ``VERBOSE=1`` names the files.

One process prepares a data folder and ends. A second one starts the application over it and makes the requests, the
dashboard's page first, so that nothing was in memory before.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import requests
from werkzeug.serving import make_server
from werkzeug.test import Client, TestResponse

import webapp
from tests.fakes.ports import free_port
from webapp.app import create_app
from webapp.kit import assets
from webapp.people import users
from webapp.sandbox.app import create_sandbox
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.accounts import oauth_apps, redirect_uris
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.settings import Settings

WAYS = ("accounts page, cold", "create token", "OAuth callback", "deploy a trigger", "warm declared run")
ROOT = Path(__file__).parent.parent
APPS = ROOT / "webapp" / "service" / "catalog" / "apps"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PACKAGE = f"{Path(webapp.__file__).parent}/"
EMAIL = "ways@example.com"
PASSWORD = "a long password"


class Way:
    """The files that one request enters."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self._importing: dict[int, int] = {}  # by thread: how deep it is in modules that are being imported

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Collect the files while the block runs."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        thread, code = threading.get_ident(), frame.f_code
        if code.co_name == "<module>":
            self._importing[thread] = self._importing.get(thread, 0) + {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not self._importing.get(thread) and code.co_filename.startswith(PACKAGE):
            self.files.add(code.co_filename.removeprefix(PACKAGE))


class Caller:
    """A browser and a server of the project's, in front of a fresh application; each answer must be a good one."""

    def __init__(
        self,
        settings: Settings,
        service: Service,
        project_id: str,
        user_id: str,
        grant: Mapping[str, str],
        cookies: Mapping[str, str],
    ) -> None:
        self._public, self._api, self._grant = settings.public_url, f"/v1/connect/{project_id}", grant
        self._user_id, self._headers = user_id, dict[str, str]()
        self._client = Client(create_app(settings, service=service))
        for name, value in cookies.items():
            self._client.set_cookie(name, value)

    def get(self, url: str, **options: Any) -> TestResponse:
        """One GET."""
        return self._open("GET", url, **options)

    def post(self, url: str, **options: Any) -> TestResponse:
        """One POST."""
        return self._open("POST", url, **options)

    def sign_in(self) -> dict[str, str]:
        """Sign in to the dashboard; the cookies by their names."""
        csrf = re.search(r'name="csrf_token" value="([^"]+)"', self.get("/sign-in").text)
        assert csrf
        answer = self.post("/sign-in", data={"csrf_token": csrf[1], "email": EMAIL, "password": PASSWORD})
        pairs = (header.split(";")[0].split("=", 1) for header in answer.headers.getlist("Set-Cookie"))
        return dict(pairs)

    def authorize(self) -> None:
        """Fetch the access token of :meth:`api`."""
        token = self.post("/v1/oauth/token", json=self._grant).get_json()["access_token"]
        self._headers = {"Authorization": f"Bearer {token}", "X-PD-Environment": "development"}

    def api(self, path: str, body: Mapping[str, Any]) -> Any:
        """One call of the API below the project."""
        return self.post(self._api + path, json=body, headers=self._headers).get_json()

    def create_token(self) -> str:
        """The Connect Link of a new token."""
        return str(self.api("/tokens", {"external_user_id": self._user_id})["connect_link_url"])

    def deployable(self) -> dict[str, Any]:
        """The body that deploys a trigger on the account that was connected first."""
        accounts = self.get(f"{self._api}/accounts?external_user_id={self._user_id}", headers=self._headers).get_json()
        return {
            "id": "sandbox-new-task",
            "external_user_id": self._user_id,
            "configured_props": {"account": {"authProvisionId": accounts["data"][0]["id"]}},
            "webhook_url": "https://hooks.example/ways",
        }

    def runnable(self) -> dict[str, Any]:
        """The body that runs a declared action on the account that was connected first."""
        deployable = self.deployable()
        return {
            "id": "sandbox-list-projects",
            "external_user_id": self._user_id,
            "configured_props": deployable["configured_props"],
        }

    def consent(self, link: str) -> str:
        """Go through the Connect Link to the provider and allow; where the provider sends the browser back to."""
        opened = self.get(f"{link}&app=sandbox", headers={"Sec-Fetch-Dest": "document"})
        start = re.search(r'data-start href="([^"]*profile=full[^"]*)"', self.get(opened.headers["Location"]).text)
        assert start
        authorize = self.get(unescape(start[1]), headers={"Sec-Fetch-Site": "same-origin"}).headers["Location"]
        form = requests.get(authorize, timeout=10)
        hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form.text)
        decision = {"person": "per_ada", "behaviour": "normal", "decision": "allow"}
        fields = {name: unescape(value) for name, value in hidden} | decision
        action = authorize.partition("?")[0]
        back = requests.post(action, fields, cookies=form.cookies, timeout=10, allow_redirects=False)
        return back.headers["Location"]

    def _open(self, method: str, url: str, **options: Any) -> TestResponse:
        parts = urlsplit(url)
        answer = self._client.open(
            parts.path, method=method, query_string=parts.query, base_url=self._public, **options
        )
        assert answer.status_code < 400, f"{method} {parts.path}: {answer.text}"
        return answer


def prepare(settings: Settings) -> dict[str, Any]:
    """Make a project, a client, and somebody who is signed in and has an account; what :func:`measure` must know."""
    with _opened(settings) as service, _sandbox(settings, service):
        person = users.create(service.store, service.clock, email=EMAIL, password=PASSWORD, role="owner")
        project = projects.create(service, name="Ways")
        client_id, secret = oauth_clients.dashboard(service)
        grant = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        known: dict[str, Any] = {"project_id": project.id, "user_id": person.id, "grant": grant}
        caller = Caller(settings, service, **known, cookies={})
        caller.authorize()
        caller.get(caller.consent(caller.create_token()))
        return {**known, "cookies": caller.sign_in()}


def measure(settings: Settings, known: Mapping[str, Any]) -> dict[str, list[str]]:
    """The files of each way, in an application that has just been started."""
    ways = {name: Way() for name in WAYS}
    with _opened(settings) as service, _sandbox(settings, service):
        caller = Caller(settings, service, **known)
        with ways["accounts page, cold"].entered():
            caller.get("/accounts")
        caller.authorize()
        with ways["create token"].entered():
            link = caller.create_token()
        back = caller.consent(link)
        with ways["OAuth callback"].entered():
            caller.get(back)
        trigger = caller.deployable()
        with ways["deploy a trigger"].entered():
            caller.api("/triggers/deploy", trigger)
        run = caller.runnable()
        caller.api("/actions/run", run)
        with ways["warm declared run"].entered():
            caller.api("/actions/run", run)
    return {name: sorted(way.files) for name, way in ways.items()}


def count(catalog: Path | None = None) -> dict[str, list[str]]:
    """The files of each way, in an installation that is removed afterwards; its ``catalog`` may be built already."""
    with tempfile.TemporaryDirectory(prefix="shape-") as folder:
        if catalog is not None:
            shutil.copy(catalog, folder)
        settings = {"PATCHBAY_DATA": folder, "PATCHBAY_SANDBOX_PORT": str(free_port())}
        known = _stage("prepare", settings, {})
        return {name: list(files) for name, files in _stage("measure", settings, known).items()}


def main(arguments: Sequence[str]) -> int:
    """Print both tables; with ``-v`` the files of each way, too."""
    if arguments[:1] in (["prepare"], ["measure"]):
        given = json.load(sys.stdin)
        settings = Settings.from_env(given["settings"])
        print(json.dumps(prepare(settings) if arguments[0] == "prepare" else measure(settings, given["known"])))
        return 0
    print(f"{'room':<42}{'modules':>8}{'lines':>8}{'functions':>10}")
    for room, (modules, lines, functions) in rooms().items():
        print(f"{room:<42}{modules:>8}{lines:>8}{functions:>10}")
    print(f"\n{'way':<42}{'files':>8}")
    for name, files in count().items():
        print(f"{name:<42}{len(files):>8}")
        if "-v" in arguments:
            print("".join(f"    {file}\n" for file in files))
    return 0


def rooms() -> dict[str, tuple[int, int, int]]:
    """Modules, lines and functions of each folder of ``webapp`` but the apps', and of all together."""
    sizes: dict[str, tuple[int, int, int]] = {}
    for file in sorted(Path(PACKAGE).rglob("*.py")):
        if (text := file.read_text("utf-8")) and APPS not in file.parents:
            room = file.parent.relative_to(ROOT).as_posix()
            size = (1, len(text.splitlines()), sum(isinstance(node, FUNCTIONS) for node in ast.walk(ast.parse(text))))
            for name in (room, "all"):
                sizes[name] = tuple(map(sum, zip(sizes.get(name, (0, 0, 0)), size, strict=True)))  # type: ignore[assignment]
    everything = sizes.pop("all")
    return {**sizes, "all": everything}


def _stage(name: str, settings: Mapping[str, str], known: Mapping[str, Any]) -> dict[str, Any]:
    """What a fresh process prints that does ``name``."""
    given = json.dumps({"settings": settings, "known": known})
    done = subprocess.run(
        [sys.executable, "-m", "tests.shape", name],
        cwd=ROOT,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise RuntimeError(f"The stage {name} failed: {done.stderr}")
    return dict(json.loads(done.stdout))


@contextmanager
def _opened(settings: Settings) -> Iterator[Service]:
    service = open_service(settings)
    try:
        yield service
    finally:
        close_service(service)


@contextmanager
def _sandbox(settings: Settings, service: Service) -> Iterator[None]:
    """The provider at the other end, on its own port."""
    client_id, secret = oauth_apps.ensure_sandbox(service)
    folders = assets.templates_dir(), assets.static_dir()
    uris = [redirect_uris.of_new_client(service, "sandbox")]
    app = create_sandbox(settings.data / "sandbox", settings.sandbox_url, client_id, secret, uris, *folders)
    server = make_server("localhost", settings.sandbox_port, app)  # one thread, which is not watched
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
