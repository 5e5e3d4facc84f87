"""Canaries in what triggers, deliveries, runs, mails and a project's settings hold; looked for as in test_canaries.py.

Everything goes over HTTP and SMTP through the engines of the worker; a crash of ours and one of a component are among
it. Looked through are answers, pages, log lines in both forms, metrics, the database and its journal, and a backup.
"""

import base64
import json
import logging
import re
import smtplib
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.fakes.browser import Browser
from tests.fakes.installation import Installation, copied, prepared
from tests.fakes.leaks import LeakDetector, Rights, check_files, check_logs
from tests.fakes.ports import free_port
from tests.fakes.receiver import Mood, Receiver, receiving
from tests.fakes.thirdparty import GOOD_KEY, ThirdParty
from tests.security.conftest import own_client
from webapp.cli.serving.logs import _json
from webapp.kit.clock import MINUTE, FakeClock
from webapp.people import users
from webapp.service.domain.instance import backups, rotation
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.service.worker.mail import MailServer
from webapp.service.worker.trigger_engine import TriggerEngine

METRICS, PASSWORD = "canary-metrics-token-4b7", "canary-person-password-5e1"
TOKEN, SUBSCRIPTION, INBOUND = "canary-secret-prop-3d", "canary-subscription-8e", "canary-inbound-authorization"
STASHED, CLIENT, ADDRESS = "canary-stashed-content-77", "canary-own-client-secret-2f", "canary-webhook-address-9c"
HEAD = "from webapp.service.components.authoring import *\n"
HOOK = f"""
class Hook(Trigger):
    name = "Hook"
    description = "Emits what it is told, and says too much."
    reads_secrets = True
    account = app("acme_keys")
    token = string(label="Token", secret=True)
    http = http_interface(custom_response=True)
    db = service_db()

    def activate(self, ctx):
        ctx.db.set("secret", "{SUBSCRIPTION[::-1]}"[::-1])
        ctx.log("subscribed", ctx.endpoint, ctx.props.token, ctx.auth["api_key"], ctx.auth)
        print(ctx.endpoint, ctx.props.token)

    def run(self, ctx):
        said = f"{{ctx.endpoint}} {{ctx.props.token}} {{ctx.auth['api_key']}}"
        if ctx.event["body"] == "fail":
            raise ComponentError("It failed at " + said)
        if ctx.event["body"] == "crash":
            raise RuntimeError("It crashed at " + said)
        ctx.emit(ctx.event, summary="hook")
        ctx.respond(202, "taken")
"""
TICK = """
class Tick(Trigger):
    name = "Tick"
    description = "Fails with its token."
    timer = timer(default={"intervalSeconds": 60})
    token = string(label="Token", secret=True)

    def run(self, ctx):
        ctx.log("ticking with", ctx.props.token)
        raise ComponentError("It failed with " + ctx.props.token)
"""
WRITE = f"""
class Write(Action):
    name = "Write"
    description = "Writes a file."
    annotations = dict(readOnlyHint=False, destructiveHint=False, idempotentHint=False, openWorldHint=True)
    token = string(label="Token", secret=True)

    def run(self, ctx):
        ctx.files.write("secret.txt", b"{STASHED[::-1]}"[::-1])
        ctx.log("wrote with", ctx.props.token)
        ctx.export("$summary", "Wrote with " + ctx.props.token)
        return "done"
"""
COMPONENTS = {"hook/1.0.0.py": HOOK, "tick/1.0.0.py": TICK, "write/1.0.0.py": WRITE}

P, TRIGGER = r"/v1/connect/proj_\w+", r"/triggers/\w+"
RIGHTS: Rights = {
    "API key": [("*", f"{P}/proxy/.+", "body")],  # what an app says there is its own affair; headers are not
    "metrics token": [],
    "secret prop": [("POST", f"{P}/actions/run", "body")],  # the action itself exports it, to whoever sent it
    "subscription secret": [],
    "inbound credential": [],
    "own client secret": [],
    "password": [],
    "user API key": [("POST", "/settings/api-key", "body")],
    "Connect token": [("POST", f"{P}/tokens", "body")],
    "trigger key": [
        ("POST", f"{P}/triggers/deploy", "body"), ("*", rf"{P}/deployed-triggers(/\w+)?", "body"),
        ("GET", rf"{P}/deployed-triggers/\w+/(events|deliveries/\w+)", "body"),
        ("POST", rf"{P}/deployed-triggers/\w+/test_event", "body"),
        ("GET", rf"{TRIGGER}(/.*)?", "body"),
    ],
    "signing key": [
        ("POST", f"{P}/triggers/deploy", "body"), ("GET", f"{P}/deployed-triggers", "body"),
        ("*", rf"{P}/deployed-triggers/\w+(/webhooks(/\w+)?)?", "body"),
        ("POST", rf"{P}/deployed-triggers/\w+/webhooks/\w+/(regenerate_signing_key|reset_delivery_state)", "body"),
        ("PUT", f"{P}/webhook", "body"), ("POST", f"{P}/webhook/regenerate_signing_key", "body"),
        ("POST", rf"{TRIGGER}/webhooks/\w+/key", "body"), ("GET", TRIGGER, "body"),
    ],
    "webhook address": [
        ("*", rf"{P}/deployed-triggers/\w+/webhooks(/\w+(/\w+)?)?", "body"), ("*", f"{P}/webhook(/.+)?", "body"),
        ("POST", "/v1/webhooks", "body"), ("GET", rf"{TRIGGER}(/.*)?", "body"),
        ("POST", rf"{TRIGGER}/webhooks/\w+/key", "body"),
    ],
    "stashed file": [("GET", rf"{P}/file_stash/download|/v1/files/[\w.-]+", "body")],
    "file link": [("POST", f"{P}/actions/run", "body")],
    "session cookie": [("*", r"/.*", "Set-Cookie")],
}  # fmt: skip


@pytest.fixture(scope="module")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory, running_party: ThirdParty) -> Path:
    """The third party's apps, and components that say more than they should."""
    folder = tmp_path_factory.mktemp("canaries")
    for place, text in COMPONENTS.items():
        (folder / "components" / place).parent.mkdir(parents=True)
        (folder / "components" / place).write_text(HEAD + text)
    return prepared(folder, running_party.apps)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def installation(
    data: Path, clock: FakeClock, party: ThirdParty, prepared_folder: Path, receiver: Receiver
) -> Iterator[Installation]:
    """With everything that an operator may switch on, and the worker's engines."""
    allowed = f"{party.netloc},{receiver.netloc}"
    made = Installation(
        copied(prepared_folder, data), clock=clock, PATCHBAY_ALLOW_HOSTS=allowed, PATCHBAY_METRICS_TOKEN=METRICS,
        PATCHBAY_ACCESS_LOG="on", PATCHBAY_MAIL_PORT=str(free_port()),
    ).start()  # fmt: skip
    own_client(made)
    yield made
    made.stop()


class Story:
    """Everybody who takes part."""

    def __init__(
        self,
        installation: Installation,
        receiver: Receiver,
        party: ThirdParty,
        clock: FakeClock,
        detector: LeakDetector,
    ) -> None:
        self.installation, self.receiver, self.party, self.clock = installation, receiver, party, clock
        self.detector, self.browser = detector, Browser(installation.url)
        self.server = installation.server_token()
        service = installation.service
        self.triggers, self.deliveries, self.mail = TriggerEngine(service), DeliveryEngine(service), MailServer(service)

    def ask(self, method: str, path: str, token: str | None = None, **more: Any) -> requests.Response:
        """One call of the API, remembered."""
        return self.detector.note(self.installation.api(method, path, token or self.server, **more))

    def raw(self, method: str, path: str, **more: Any) -> requests.Response:
        """One request without a project."""
        address = f"{self.installation.url}{path}"
        return self.detector.note(requests.request(method, address, timeout=60, **more))

    def frontend(self, **order: Any) -> str:
        """A Connect token of the person who signs in."""
        made = self.ask("POST", "tokens", json={"external_user_id": self.ada, **order})
        return self.detector.add("Connect token", str(made.json()["token"]))

    def person(self) -> None:
        service = self.installation.service
        self.ada = users.create(
            service.store, self.clock, email="ada@example.com", password=PASSWORD, role="owner"
        ).id  # fmt: skip
        self.browser.form("/sign-in", "/sign-in", email="ada@example.com", password=PASSWORD)
        page = self.browser.form("/settings", "/settings/api-key")
        found = re.search(r"pbk_[\w-]{20,}", page.text)
        assert found
        key = self.detector.add("user API key", found[0])
        auth = {"Authorization": f"Bearer {key}"}
        assert self.raw("GET", "/v1/users/me", headers=auth).status_code == 200
        query = {"url": self.receiver.url(f"/general/{ADDRESS}"), "name": "All", "description": "Hears all."}
        assert self.raw("POST", "/v1/webhooks", headers=auth, params=query).status_code == 200
        self.raw("POST", "/v1/webhooks", headers={"Authorization": f"Bearer {key}x"}, params=query)
        self.raw("GET", "/v1/connect/projects", headers=auth)
        self.browser.visit("/settings")

    def project(self) -> None:
        """Its webhook and key, its own OAuth clients and its overrides."""
        for path, body in (
            ("webhook", {"url": self.receiver.url(f"/project/{ADDRESS}")}),
            ("webhook", {"url": "nonsense"}),
        ):
            self.ask("PUT", path, json=body)
        self.ask("POST", "webhook/regenerate_signing_key")
        self.ask("GET", "webhook")
        for noted in self.detector.answers:
            for key in re.findall(r"whsec_[\w+/=]+", noted.text):
                self.detector.add("signing key", key)
        own = {"app": "acme", "client_id": "c", "client_secret": CLIENT}
        made = self.ask("POST", "oauth_apps", json=own).json()
        self.ask("PUT", f"oauth_apps/{made['id']}", json={"client_secret": CLIENT + "-new", "name": "N"})
        for bad in ({**own, "app": "nothing"}, {**own, "app": "acme_keys"}, {**own, "client_secret": [CLIENT]}):
            assert self.ask("POST", "oauth_apps", json=bad).status_code == 400
        preset = {"app": "acme_keys", "name": "Preset", "cfmap": {"api_key": GOOD_KEY}}
        assert self.ask("POST", "app_overrides", json=preset).status_code == 400
        for path in ("oauth_apps", f"oauth_apps/{made['id']}", "app_overrides", "projects/info"):
            self.ask("GET", path)
        assert self.ask("DELETE", f"oauth_apps/{made['id']}").status_code == 204  # acme's own client serves again

    def connect(self) -> str:
        """A notification of a connection, and one of a failure; the account."""
        token = self.frontend(webhook_uri=self.receiver.url(f"/notified/{ADDRESS}"))
        for key in (GOOD_KEY + "-wrong", GOOD_KEY):
            body = {"app_slug": "acme_keys", "cfmap_json": json.dumps({"api_key": key}), "connect_token": token}
            made = self.ask("POST", "accounts", token, json=body)
        assert made.status_code == 200, made.text
        self.until(lambda: all(self.receiver.of(f"/{path}/{ADDRESS}") for path in ("notified", "general")))
        assert token.encode() in self.receiver.of(f"/notified/{ADDRESS}")[0].body
        return str(made.json()["id"])

    def deploy(self, component: str, **props: Any) -> dict[str, Any]:
        body = {
            "id": component, "external_user_id": self.ada, "configured_props": props,
            "webhook_url": self.receiver.url(f"/to/{component.removeprefix('~/')}/{ADDRESS}"),
        }  # fmt: skip
        answer = self.ask("POST", "triggers/deploy?extensions=true", json=body)
        assert answer.status_code == 200, answer.text
        made: dict[str, Any] = answer.json()["data"]
        self.detector.add("signing key", made["webhook_signing_key"])
        row = deployed_triggers.find(self.installation.service.store, made["id"])
        assert row is not None
        if key := deployed_triggers.endpoint_key(self.installation.service, row):
            self.detector.add("trigger key", key)
            made["address"] = f"/h/{key}"
        return made

    def knock(self, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
        """Requests of every kind to a trigger's own address; one of them meets a fault of ours."""
        auth = {"Authorization": f"Bearer {INBOUND}", "Cookie": f"c={INBOUND}", "Proxy-Authorization": INBOUND}
        for body in ("hello", "fail", "crash", '{"a": 1}', "x" * (10 * 2**20 + 1)):
            self.raw("POST", f"{made['address']}/more?x=1", data=body, headers=auth)
        self.raw("POST", f"{made['address']}x", data="hello")
        self.ask("PUT", f"deployed-triggers/{made['id']}?external_user_id={self.ada}", json={"active": False})
        self.raw("POST", made["address"], data="hello")
        self.ask("PUT", f"deployed-triggers/{made['id']}?external_user_id={self.ada}", json={"active": True})

        def broken(*_: object) -> None:
            raise RuntimeError("the test broke this")

        with monkeypatch.context() as patch:
            patch.setattr(deployed_triggers, "by_endpoint", broken)
            assert self.raw("POST", made["address"], data="hello").status_code == 500
            self.ask("GET", f"deployed-triggers/{made['id']}?external_user_id={self.ada}")
        token = self.frontend()
        with monkeypatch.context() as patch:
            behind = self.installation.app.after_request_funcs  # every view: the framework itself logs this
            patch.setitem(behind, None, [broken])
            assert self.raw("POST", made["address"], data="hello").status_code == 500
            assert self.raw("GET", f"/v1/connect/tokens/{token}/validate").status_code == 500
        with monkeypatch.context() as patch:
            patch.setattr(deployed_triggers, "configured", broken)
            self.raw("POST", made["address"], data="hello")
            self.ask("GET", f"deployed-triggers/{made['id']}?external_user_id={self.ada}")

    def look(self, made: dict[str, Any]) -> None:
        """Everything that the API and the dashboard show of a trigger, to a server and to its user."""
        one, token = f"deployed-triggers/{made['id']}", self.frontend()
        user = f"external_user_id={self.ada}"
        delivered = [row["id"] for row in self.ask("GET", f"{one}/deliveries?{user}").json()["data"]]
        paths = ["", "/events", "/logs", "/stats", "/deliveries", "/webhooks", "/pipelines"]
        for path in (*(f"{one}{path}" for path in paths), *(f"{one}/deliveries/{did}" for did in delivered)):
            self.ask("GET", f"{path}?{user}&extensions=true")
            assert "whsec_" not in self.ask("GET", f"{path}?extensions=true", token).text
        everything = "deployed-triggers?emitter_type=all&extensions=true"
        assert "whsec_" in self.ask("GET", everything).text
        assert "whsec_" not in self.ask("GET", everything, token).text
        self.ask("POST", f"{one}/test_event", token, json={})
        (webhook,) = self.ask("GET", f"{one}/webhooks?{user}").json()["webhooks"]
        rotated = self.ask("POST", f"{one}/webhooks/{webhook['id']}/regenerate_signing_key?{user}").json()["data"]
        self.detector.add("signing key", rotated["signing_key"])
        again = self.ask("POST", f"{one}/webhooks/{webhook['id']}/regenerate_signing_key", token)
        assert "whsec_" not in again.text
        for path in ("", "/logs", "/configuration", "/deliveries", "/deletion", "/news?tab=logs", "/news?tab=events"):
            assert self.browser.visit(f"/triggers/{made['id']}{path}").status == 200
        events = self.ask("GET", f"{one}/events?{user}").json()["data"]
        for path in (*(f"/events/{event['id']}" for event in events), *(f"/deliveries/{did}" for did in delivered)):
            assert self.browser.visit(f"/triggers/{made['id']}{path}").status == 200
        page = f"/triggers/{made['id']}"
        revealed = self.browser.form(page, f"{page}/webhooks/{webhook['id']}/key")
        found = re.search(r"whsec_[\w+/=]+", revealed.text)
        assert found
        self.detector.add("signing key", found[0])

    def stash(self) -> None:
        """An action writes a file; it is downloaded by its key and by its link."""
        body = {"id": "~/write", "external_user_id": self.ada, "configured_props": {"token": TOKEN}, "stash_id": "NEW"}
        ran = self.ask("POST", "actions/run", json=body).json()
        (file,) = ran["exports"]["$filestash_uploads"]
        ticket = self.detector.add("file link", file["get_url"].rpartition("/")[2])
        assert self.raw("GET", f"/v1/files/{ticket}").text == STASHED
        assert self.raw("GET", f"/v1/files/{ticket}x").status_code == 404
        self.ask("GET", "file_stash/download", params={"s3_key": file["s3Key"]})
        self.ask("GET", "file_stash/download", params={"s3_key": file["s3Key"] + "x"})
        for run in self.ask("GET", "runs").json()["data"]:
            self.ask("GET", f"runs/{run['id']}")
        self.browser.visit("/apps/acme_keys")

    def write(self, made: dict[str, Any]) -> None:
        """A mail with an attachment."""
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "x@example.com", made["email_address"], "Hello"
        mail.set_content("See the file.")
        mail.add_attachment(STASHED.encode(), "text", "plain", filename="secret.txt")
        assert self.mail.port
        with smtplib.SMTP("127.0.0.1", self.mail.port, timeout=20) as post:
            post.send_message(mail)
        self.until(lambda: bool(self.receiver.of(f"/to/email-new-email/{ADDRESS}")))
        (event,) = self.ask("GET", f"deployed-triggers/{made['id']}/events?external_user_id={self.ada}").json()["data"]
        self.ask("GET", "file_stash/download", params={"s3_key": event["e"]["attachments"][0]["file"]})

    def proxy(self, account: str) -> None:
        """Requests with the credential in a header or in the address; the provider is well or points elsewhere."""
        body = {"app_slug": "acme_query", "cfmap_json": json.dumps({"api_key": GOOD_KEY})}
        made = self.ask("POST", "accounts", json={**body, "connect_token": self.frontend()}).json()["id"]
        self.party.mood = self.party.token_mood = "redirecting"
        coded = base64.urlsafe_b64encode(b"/me").decode()
        for elsewhere in ("#x", f"/me/?key={GOOD_KEY}", f"https://elsewhere.example.com/?back={GOOD_KEY}", "?page=2"):
            self.party.elsewhere = elsewhere
            for method in ("GET", "POST"):
                sent: dict[str, Any] = {} if method == "GET" else {"json": {}}
                address = f"proxy/{coded}?account_id={made}"
                answer = self.ask(method, address, self.frontend(), allow_redirects=False, **sent)
                assert answer.headers["Location"].startswith("http")
        self.party.reset()
        for token, more in ((self.server, f"&external_user_id={self.ada}"), (self.frontend(), "")):
            for target in ("/me", f"{self.party.origin}/me?x=1", "https://elsewhere.example.com/", "http://[", "/nope"):
                coded = base64.urlsafe_b64encode(target.encode()).decode()
                self.ask("GET", f"proxy/{coded}?account_id={account}{more}", token)
                self.ask("POST", f"proxy/{coded}?account_id={account}{more}", token, json={})

    def until(self, seen: Callable[[], bool]) -> None:
        ends = time.monotonic() + 20
        while not seen():
            assert time.monotonic() < ends
            self.triggers.wake()
            self.deliveries.wake()
            time.sleep(0.02)


@pytest.mark.embedded
def test_no_canary_of_a_trigger_stands_where_it_has_no_right(
    installation: Installation, receiver: Receiver, party: ThirdParty, clock: FakeClock, tmp_path: Path,
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    detector = LeakDetector(RIGHTS)
    for kind, beginning in (
        ("API key", GOOD_KEY), ("metrics token", METRICS), ("secret prop", TOKEN), ("password", PASSWORD),
        ("subscription secret", SUBSCRIPTION), ("inbound credential", INBOUND), ("own client secret", CLIENT),
        ("stashed file", STASHED), ("webhook address", ADDRESS),
    ):  # fmt: skip
        detector.add(kind, beginning)
    story = Story(installation, receiver, party, clock, detector)
    with ExitStack() as stack:
        stack.callback(story.browser.close)
        for engine in (story.triggers, story.deliveries, story.mail):
            engine.start()
            stack.callback(engine.stop, 2)
        story.person()
        story.project()
        account = story.connect()
        chosen = {"account": {"authProvisionId": account}, "token": TOKEN}
        hook, tick = story.deploy("~/hook", **chosen), story.deploy("~/tick", token=TOKEN)
        request, mail = story.deploy("http-new-requests"), story.deploy("email-new-email")
        story.ask("POST", "triggers/deploy", json={"id": "~/hook", "external_user_id": story.ada,
                                                   "configured_props": {**chosen, "account": {}}})  # fmt: skip
        for place, made in (("hook", hook), ("http-new-requests", request)):  # whoever gets the key repeats it
            said = made["address"]
            receiver.moods[f"/to/{place}/{ADDRESS}"] = Mood(500, {"X-Said": said}, "", said.encode())
        story.knock(hook, monkeypatch)
        story.knock(request, monkeypatch)
        story.until(
            lambda: bool(receiver.of(f"/to/hook/{ADDRESS}")) and bool(receiver.of(f"/to/http-new-requests/{ADDRESS}"))
        )
        story.write(mail)
        clock.advance(2 * MINUTE)
        story.server = installation.server_token()
        story.until(lambda: "It failed with" in story.ask(
            "GET", f"deployed-triggers/{tick['id']}/logs?external_user_id={story.ada}").text)  # fmt: skip
        for made in (hook, tick, request, mail):
            story.look(made)
        story.stash()
        story.proxy(account)
        for path in (
            "activity",
            "audit",
            "users",
            "webhook",
            f"accounts/{account}/uses",
            f"accounts/{account}/history",
        ):
            story.ask("GET", path)
        assert "patchbay_requests" in story.raw("GET", "/metrics", headers={"Authorization": f"Bearer {METRICS}"}).text
        story.raw("GET", "/metrics", headers={"Authorization": f"Bearer {METRICS}x"})
        story.browser.visit("/logs")
        rotation.rotate(installation.service)
    detector.answers += story.browser.seen
    for page in story.browser.seen:
        for value in re.findall(r"=([\w.-]{20,});", page.headers.get("Set-Cookie", "")):
            detector.add("session cookie", value)
    assert set(detector.secrets) == set(RIGHTS)
    assert list(dict.fromkeys(detector.leaks(installation.url))) == []
    sent = b"\n".join(one.body + repr(one.headers).encode() for one in receiver.got)
    assert detector.kinds_in(sent) == {"trigger key", "Connect token"}, "more than the event was delivered"
    in_json = _json("web")
    lines = [in_json.format(record) for record in caplog.records if record.threadName != "MainThread"]
    assert any('"route": "inbound.receive"' in line for line in lines)
    assert any("Exception in inbound.receive [POST]" in line for line in lines)
    assert detector.lines_with_secrets(lines) == []
    check_logs(detector, caplog, capfd)
    check_files(detector, installation.data)
    backups.write(installation.settings, tmp_path / "backup.zip", clock)
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        assert {name: found for name in archive.namelist() if (found := detector.kinds_in(archive.read(name)))} == {}
    installation.restart()  # which closes the store
    check_files(detector, installation.data)
