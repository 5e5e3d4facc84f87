"""An MCP server that people sign in to, from its address to runs: each acts with their own tokens only, and whatever
the server does later ends in a sentence, a renewal or a reconnection, never in a call that nobody has looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fakes.browser import Browser
from tests.fakes.installation import Installation, copied
from tests.fakes.mcp_server import ERASE, SEARCH, Manner, McpServer, SignIns, serving
from webapp.kit.clock import HOUR, SECOND, FakeClock, now
from webapp.service.catalog.importing.records import Options
from webapp.service.components.declared import tools
from webapp.service.domain.accounts import accounts, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.components import held_tools
from webapp.service.domain.instance import app_imports, mcp_servers
from webapp.service.domain.instance.mcp_servers import Asker

OTHER = {**SEARCH, "description": "Sends all notes to everybody."}
HELD = "The tool search_notes has changed at its server since an owner of this service looked at it"
GONE = "The server has no tool search_notes for this account."


@dataclass
class Place:
    """A server, and an installation with an app of it."""

    server: McpServer
    served: Installation
    clock: FakeClock
    issuer: McpServer  # another one, at which nobody signs in yet
    accepted: list[Any] = field(default_factory=lambda: [SEARCH, ERASE])  # as the owner saw the tools last

    @property
    def sign_ins(self) -> SignIns:
        assert self.server.sign_ins is not None
        return self.server.sign_ins

    def add(self, account: Account | None = None) -> None:
        """Add the app, or accept what has changed, as an owner with ``account`` sees it."""
        self.clock.advance(SECOND)
        asker = Asker(account_id=account.id, scene=self.served.scene) if account else Asker()
        mcp_servers.add(self.served.service, self.server.url, "notes", asker, Options())

    def page(self, user: str) -> tuple[Browser, str]:
        """A browser at the Connect Link of ``user``, and where its button leads."""
        browser = Browser(self.served.url)
        return browser, browser.visit(self.served.link(self.served.token(user), "notes")).start_link()

    def connect(self, user: str, person: str) -> Account:
        """Connect an account of ``user``, who is ``person`` at the server."""
        self.clock.advance(SECOND)
        self.sign_ins.person = person
        if self.issuer.sign_ins:
            self.issuer.sign_ins.person = person
        browser, start = self.page(user)
        begun = browser.get(start)
        assert begun.status == 303, begun.text
        asked = {name: values[0] for name, values in parse_qs(urlsplit(begun.location).query).items()}
        assert (asked["resource"], asked["code_challenge_method"]) == (self.server.url, "S256")
        ended = browser.visit(browser.follow(begun, until=self.served.url).location)
        browser.close()
        assert ended.status == 200, ended.text
        return next(each for each in reversed(self.served.accounts()) if each.external_id == user)

    def run(self, account: Account, user: str = "", tool: str = "search-notes") -> Any:
        """The answer of the API to a run of ``tool`` with ``account``."""
        props: dict[str, Any] = {"account": {"authProvisionId": account.id}}
        props |= {"query": "tea"} if tool == "search-notes" else {}
        user = user or account.external_id
        body = {"id": f"notes-{tool}", "external_user_id": user, "configured_props": props}
        return self.served.api("POST", "actions/run", self.served.token(user), json=body)

    def error(self, account: Account, tool: str = "search-notes") -> str:
        """Why a run failed."""
        ran = self.run(account, tool=tool).json()
        assert ran["ret"] is None, ran
        return str(next(line["err"]["message"] for line in ran["os"] if line.get("err")))

    def now(self, account: Account) -> Account:
        """``account`` as it is now."""
        return accounts.get(self.served.service.store, self.served.scene, account.id)

    def clients(self) -> list[str]:
        """The ids of the clients that registered themselves, newest first."""
        return [each.client_id for each in oauth_apps.self_registered(self.served.service.store, "notes")]


@pytest.fixture(scope="module")
def standing(prepared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One installation for all tests of this module: an app with two tools, and Alice's account, who is Ada there."""
    with serving() as server, serving() as issuer:
        server.open_to_people()
        clock, data = FakeClock(now()), tmp_path_factory.mktemp("mcp")
        hosts = f"{server.host} {issuer.host}"
        served = Installation(copied(prepared_folder, data), clock=clock, PATCHBAY_ALLOW_HOSTS=hosts)
        place = Place(server, served.start(), clock, issuer)
        place.add()
        place.add(place.connect("alice", "ada"))
        yield place
        served.stop()


@pytest.fixture
def place(standing: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The installation, with a server that behaves, and which is asked for its tools at each call."""
    pages, sign_ins = standing.server.manner.pages, standing.sign_ins
    standing.server.manner = Manner(pages=pages, tools=standing.accepted)
    sign_ins.clients.add(standing.clients()[0])
    monkeypatch.setattr(tools.LISTED, "_seconds", 0.0)
    return standing


def alice(place: Place) -> Account:
    """Her account, which works."""
    account = next((each for each in place.served.accounts() if each.external_id == "alice" and not each.dead), None)
    return account or place.connect("alice", "ada")


def test_two_people_of_one_server_act_with_their_own_tokens_only(place: Place) -> None:
    own, other = alice(place), place.connect("bob", "ben")
    place.server.asked.clear()
    assert [place.run(each).json()["ret"] for each in (own, other, own)] == ["ada", "ben", "ada"]
    stolen = place.run(own, user="bob")
    assert (stolen.status_code, stolen.json()["error"]) == (404, "There is no such account.")
    sessions: dict[str, set[str]] = {}
    for each in place.server.asked:
        person = place.sign_ins.access[each.headers["authorization"].removeprefix("Bearer ")]
        sessions.setdefault(person, set()).add(each.headers.get("mcp-session-id", ""))
    assert sessions["ada"] & sessions["ben"] <= {""}


def test_a_server_that_rotates_its_refresh_tokens_is_followed(place: Place) -> None:
    own = alice(place)
    for _ in range(3):
        place.clock.advance(2 * HOUR)
        place.sign_ins.access.clear()
        assert place.run(own).json()["ret"] == "ada"
    sent = [form["refresh_token"] for form in place.sign_ins.asked if form["grant_type"] == "refresh_token"]
    assert len(sent) == len(set(sent)) >= 3
    assert {form["resource"] for form in place.sign_ins.asked} == {place.server.url}


def test_a_server_that_forgets_clients_gets_a_new_one_and_old_accounts_are_reconnected(place: Place) -> None:
    own, (before,) = alice(place), place.clients()
    place.sign_ins.clients.clear()
    place.clock.advance(2 * HOUR)
    assert "has forgotten the client with which this account was connected" in place.error(own)
    assert place.now(own).dead
    registered = len(place.server.registered)
    other = place.connect("carol", "cleo")
    assert len(place.server.registered) == registered + 1, "once, not for each account"
    assert place.clients()[0] != before and place.clients()[1] == before, "the old one stays while an account has it"
    assert place.run(other).json()["ret"] == "cleo"
    assert place.run(place.connect("alice", "ada")).json()["ret"] == "ada"
    assert len(place.server.registered) == registered + 1


CHANGED = {**SEARCH, "title": "Send notes"}


def test_a_client_that_is_forgotten_during_a_sign_in_is_registered_when_it_begins_again(place: Place) -> None:
    browser, start = place.page("erin")
    back = browser.follow(browser.get(start), until=place.served.url)
    place.sign_ins.clients.clear()
    ended = browser.visit(back.location)
    browser.close()
    assert "Notes has forgotten this service since you began. Start again." in ended.text
    assert place.run(place.connect("erin", "eva")).json()["ret"] == "eva"


@pytest.mark.parametrize(
    ("listed", "sentence"), [([CHANGED, ERASE], HELD), ([ERASE], GONE), ([{**SEARCH, "name": "other"}, ERASE], GONE)]
)
def test_a_tool_that_changed_or_is_gone_waits_while_the_others_go_on(
    place: Place, listed: list[Any], sentence: str
) -> None:
    own, store = alice(place), place.served.service.store
    place.server.manner.tools = listed
    place.server.asked.clear()
    assert place.error(own).startswith(sentence)
    assert place.server.messages("tools/call") == []
    assert [each.component_key for each in held_tools.waiting(store, "notes")] == ["notes-search-notes"]
    assert place.run(own, tool="erase").json()["ret"] == "ada"
    place.server.manner.tools = place.accepted
    assert place.run(own).json()["ret"] == "ada", "as an owner saw it"


def test_an_owner_accepts_a_tool_that_changed(place: Place) -> None:
    own, store = alice(place), place.served.service.store
    place.server.manner.tools = [OTHER, ERASE]
    assert place.error(own).startswith(HELD)
    place.add(own)
    assert held_tools.waiting(store, "notes") == []
    assert place.run(own).json()["ret"] == "ada"
    place.accepted = [OTHER, ERASE]
    place.server.manner.tools = [SEARCH, ERASE]
    assert place.error(own).startswith(HELD), "what was accepted is what counts"


def test_a_list_that_changed_is_noticed_in_the_call_that_says_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    own = alice(place)
    monkeypatch.setattr(tools.LISTED, "_seconds", 600.0)
    place.server.manner.answer = "text/event-stream"
    place.server.manner.before = [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}]
    assert place.run(own).json()["ret"] == "ada"
    place.server.manner.tools, place.server.manner.before = [CHANGED], []
    assert place.error(own).startswith(HELD)


def test_sessions_that_the_server_forgot_are_begun_anew(place: Place) -> None:
    own = alice(place)
    assert place.run(own).json()["ret"] == "ada"
    place.server.sessions.clear()
    assert place.run(own).json()["ret"] == "ada"


@contextmanager
def moved(place: Place) -> Iterator[None]:
    """People sign in at the other server from now on; what the server gave until now is worth nothing."""
    about = place.server.manner.pages["/.well-known/oauth-protected-resource/mcp"]
    before, about["authorization_servers"] = about["authorization_servers"], [f"http://{place.issuer.host}"]
    sign_ins = place.issuer.open_to_people()
    sign_ins.resource, sign_ins.access = place.server.url, place.sign_ins.access
    for kept in (place.sign_ins.access, place.sign_ins.refresh, place.sign_ins.clients):
        kept.clear()
    yield
    about["authorization_servers"] = before


def test_a_refusal_with_another_issuer_waits_for_an_owner(place: Place) -> None:
    own = alice(place)
    with moved(place):
        assert "reconnect it" in place.error(own)
        assert place.now(own).dead
        browser, start = place.page("alice")
        refused = browser.get(start)
        browser.close()
        assert "Notes now signs people in at 127.0.0.1. Whoever runs this service must look at it first" in refused.text
        assert place.issuer.registered == []
        place.add()
        assert len(place.issuer.registered) == 1
        assert place.run(place.connect("dora", "dan")).json()["ret"] == "dan", (
            "its actions and props are there as before"
        )


def test_nothing_is_left_of_a_server_that_was_removed(place: Place) -> None:
    service, own = place.served.service, place.served.accounts()[0]
    for account in place.served.accounts():
        assert place.served.api("DELETE", f"accounts/{account.id}", place.served.server_token()).status_code == 204
    assert place.clients()
    app_imports.remove(service, "notes")
    assert place.clients() == []
    assert not (service.settings.data / "apps" / "notes").exists()
    assert place.run(own).status_code == 404
