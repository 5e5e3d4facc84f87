"""An installation for agents that nobody here wrote: an action that takes its time and one that needs an account."""

from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import anyio

from tests.fakes.browser import Browser
from tests.fakes.installation import Installation
from tests.fakes.user_data import plant_account
from webapp.people import users
from webapp.people.agents import clients, grants, tokens
from webapp.people.agents.grants import Consent

VERIFIER, CHALLENGE = "v" * 43, "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"
ADA = {"email": "ada@example.com", "password": "a long password"}
HEAD = """
import time
from webapp.service.components.authoring import Action, app, integer
class Made(Action):
    name = "Made for agents"
    description = "Made for agents."
    annotations = dict(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False)
"""
SLOW = f"""{HEAD}
    seconds = integer(label="Seconds", min=0)

    def run(self, ctx):
        time.sleep(ctx.props.seconds)
        return "awake"
"""
WHO = f"""{HEAD}
    account = app("sandbox")

    def run(self, ctx):
        return "somebody"
"""


class Person:
    """Ada, who signs in and says yes in her browser."""

    def __init__(self, served: Installation) -> None:
        self.id = users.create(served.service.store, served.clock, role="owner", **ADA).id
        self._browser = Browser(served.url)

    def agree(self, url: str) -> dict[str, str]:
        """What the agent is told at the end of the page that it opened."""
        self._browser.form("/sign-in", "/sign-in", **ADA)
        page = self._browser.visit(url)
        assert "Desk Helper" in page.text
        form = {**page.hidden("/mcp/oauth/authorize"), "answer": "allow"}
        answer = self._browser.post("/mcp/oauth/authorize", form).location
        return dict(parse_qsl(urlsplit(answer).query))


@contextmanager
def installation(data: Path) -> Iterator[Installation]:
    """It, served."""
    for name, text in (("slow", SLOW), ("who", WHO)):
        (data / "components" / name).mkdir(parents=True)
        (data / "components" / name / "1.0.0.py").write_text(text)
    served = Installation(data).start()
    try:
        yield served
    finally:
        served.stop()


def headers(served: Installation, way: str, user: str) -> dict[str, str]:
    """What an agent of ``user`` sends that comes in by ``way``: a Connect token, a client's or a person's."""
    if way == "person":
        return {"Authorization": f"Bearer {_signed_in(served)}"}
    if way == "token":
        return {"Authorization": f"Bearer {served.token(user)}"}
    where = {"x-pd-project-id": served.scene.project_id, "x-pd-environment": served.scene.environment}
    return {"Authorization": f"Bearer {served.server_token()}", **where, "x-pd-external-user-id": user}


def connect(served: Installation, user: str) -> None:
    """Connect the account that an action needs."""
    plant_account(served.service, served.scene, user, "sandbox", {"oauth_access_token": "canary"})


def carry_out(talk: Callable[[], Awaitable[None]]) -> None:
    """Run ``talk`` in a thread of its own: after a browser test, Playwright's event loop stays in that of the tests."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, talk).result()


def _signed_in(served: Installation) -> str:
    store, clock = served.service.store, served.clock
    person = users.by_email(store, ADA["email"]) or users.create(store, clock, role="owner", **ADA)
    client = clients.register(store, clock, name="Desk Helper", redirect_uris=("http://localhost/",))
    consent = Consent(client, person.id, served.scene.project_id, "development", "http://localhost/", CHALLENGE)
    code = grants.begin(store, clock(), consent)
    pair = tokens.exchange_code(store, clock(), code=code, client_id=client.id, redirect_uri=None, verifier=VERIFIER)
    assert pair is not None
    return pair.access
