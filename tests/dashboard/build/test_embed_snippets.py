"""The code is filled in with a project's values, and with no secret."""

import json
import os
import re
import shlex
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.dashboard.embedded import BASE, Embedded
from webapp.dashboard.build.embed import WAYS
from webapp.dashboard.build.embed_snippets import Facts, snippets
from webapp.service.domain.access import oauth_clients

USER = """o'neil "x" $HOME `id` \\"""
FACTS = Facts(
    "https://connect.example", "proj_1", "production", {"external_user_id": USER, "app_id": "github"}, "github"
)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_has_its_code(way: str) -> None:
    texts = snippets(way, FACTS)
    assert texts and all("connect.example" in snippet.text or "proj_1" in snippet.text for snippet in texts)
    assert not [snippet.name for snippet in texts if "${" in snippet.text.replace("${access", "")]


def test_values_are_written_as_each_language_has_them() -> None:
    shell, python, script = (snippet.text for snippet in snippets("server", FACTS))
    words = shlex.split(shell.partition("\n\n")[2])
    assert json.loads(words[words.index("--data") + 1]) == FACTS.body
    compile(python, "server.py", "exec")
    assert repr(USER) in python and json.dumps(USER) in script


def test_without_an_app_the_user_chooses() -> None:
    (chosen,), (open_,) = snippets("window", FACTS), snippets("window", Facts("https://c.example", "p", "e", {}, ""))
    assert 'app: "github", mode' in chosen.text and "app:" not in open_.text


@pytest.fixture
def printed(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The arguments of existing clients, as whoever copies them has them: Python, JavaScript, browser."""
    client, secret = oauth_clients.create(office.service, name="Server", project_id=office.project.id)
    monkeypatch.setenv("CONNECT_CLIENT_ID", client.id)
    monkeypatch.setenv("CONNECT_CLIENT_SECRET", secret)
    facts = Facts(BASE, office.project.id, "production", {"external_user_id": USER}, "")
    python, *scripts = (snippet.text for snippet in snippets("clients", facts))
    return [eval(f"dict({python})", {"os": os}), *map(options, scripts)]


def options(text: str) -> dict[str, Any]:
    """Lines of an object of JavaScript, without those that call something."""
    pairs = re.findall(r"^(\w+): (.*?),(?: //.*)?$", text, re.MULTILINE)
    values = {name: value for name, value in pairs if "(" not in value}
    return {name: _value(value) for name, value in values.items()}


def _value(text: str) -> Any:
    return os.environ[text.removeprefix("process.env.")] if text.startswith("process.env.") else json.loads(text)


@pytest.fixture
def elsewhere(office: Embedded) -> FlaskClient:
    """A program on another machine."""
    return office.app.test_client()


def test_a_client_on_a_server_works_with_what_is_printed(
    office: Embedded, printed: list[dict[str, Any]], elsewhere: FlaskClient
) -> None:
    """As public clients do it: client credentials below the base URL, then calls below the project's path."""
    python, script, _ = printed
    names = "base_url", "project_id", "project_environment", "client_id", "client_secret"
    camel = "baseUrl", "projectId", "projectEnvironment", "clientId", "clientSecret"
    assert [python[name] for name in names] == [script[name] for name in camel] and len(python) == len(script) == 5
    order = {"grant_type": "client_credentials", "client_id": python["client_id"]}
    answer = elsewhere.post(
        "/v1/oauth/token", base_url=python["base_url"], json={**order, "client_secret": python["client_secret"]}
    )
    headers = {
        "Authorization": f"Bearer {answer.get_json()['access_token']}",
        "x-pd-environment": python["project_environment"],
    }
    for path in ("accounts", "users", "components", "deployed-triggers"):
        where = f"/v1/connect/{python['project_id']}/{path}"
        assert elsewhere.get(where, base_url=python["base_url"], headers=headers).status_code == 200, path


def test_a_client_in_a_page_works_with_what_is_printed(printed: list[dict[str, Any]], elsewhere: FlaskClient) -> None:
    """It frames the Connect Link at its host, and calls the API below its base URL without naming a project."""
    script, page = printed[1:]
    assert page.keys() == {"baseUrl", "frontendHost", "apiHost", "projectEnvironment", "externalUserId"}
    headers = {"x-pd-environment": page["projectEnvironment"]}
    credentials = {"client_id": script["clientId"], "client_secret": script["clientSecret"]}
    order = {"grant_type": "client_credentials", **credentials}
    access = elsewhere.post("/v1/oauth/token", base_url=page["baseUrl"], json=order).get_json()["access_token"]
    body = {"external_user_id": page["externalUserId"], "allowed_origins": ["https://app.example"]}
    where = f"/v1/connect/{script['projectId']}/tokens"
    server = {**headers, "Authorization": f"Bearer {access}"}
    token = elsewhere.post(where, base_url=page["baseUrl"], json=body, headers=server).get_json()["token"]
    for host in (page["frontendHost"], page["apiHost"]):
        frame = elsewhere.get(f"/_static/connect.html?token={token}&app=sandbox", base_url=f"http://{host}")
        assert frame.status_code == 200 and "https://app.example" in frame.headers["Content-Security-Policy"]
    own = {**headers, "Authorization": f"Bearer {token}", "Origin": "https://app.example"}
    for path in ("/v1/connect//accounts", "/v1/connect/apps"):
        answer = elsewhere.get(path, base_url=page["baseUrl"], headers=own)
        assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, "https://app.example")
