"""A demo link opens a filled-in form, and an owner finds it beside the form."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.demos import Demo, demo_over
from tests.fakes.ports import free_port
from tests.once.catalog import linked
from webapp import demo
from webapp.kit.clock import FakeClock
from webapp.people import users
from webapp.service.catalog import sources
from webapp.settings import Settings

SANDBOX = Path(sources.__file__).parent / "apps" / demo.APP
PAGE = "/apps/sandbox/actions/sandbox-find-tasks"
PASSWORD = "correct horse battery"


@pytest.fixture(params=[True, False], ids=["demo", "ordinary"])
def stage(
    request: pytest.FixtureRequest, data: Path, migrated: Path, built_catalog: Path, clock: FakeClock
) -> Iterator[Demo]:
    shutil.copy(migrated, data)
    linked(built_catalog, data)
    settings = Settings.from_env({"PATCHBAY_SANDBOX_PORT": str(free_port())}, data=data)
    with demo_over(settings, clock, marked=request.param) as opened:
        yield opened


@pytest.mark.parametrize("stage", [True], indirect=True)
def test_a_link_leads_to_the_form_with_its_values(stage: Demo) -> None:
    page = stage.ask(stage.opened())
    assert page.status_code == 200
    assert re.search(r"<textarea[^>]*>\s*the<", page.text)
    assert "Run action" in page.text
    assert "Connect another" not in page.text


@pytest.mark.parametrize(("role", "sees"), [("owner", True), ("developer", False)])
def test_only_an_owner_of_a_demo_is_offered_a_link(stage: Demo, role: str, sees: bool) -> None:
    base = stage.service.settings.public_url
    users.create(stage.service.store, stage.service.clock, email="ada@example.com", password=PASSWORD, role=role)
    client = stage.app.test_client()
    token = client.get("/sign-in", base_url=base).text.partition('name="csrf_token" value="')[2].partition('"')[0]
    form = {"csrf_token": token, "email": "ada@example.com", "password": PASSWORD}
    assert client.post("/sign-in", base_url=base, data=form).status_code == 303
    marked = stage.app.jinja_env.globals["is_demo"]
    assert ("Copy demo link" in client.get(PAGE, base_url=base).text) == (sees and marked)
    others = client.get("/apps/sandbox/actions/sandbox-delete-task", base_url=base)
    assert others.status_code == 200
    assert "Copy demo link" not in others.text


@pytest.mark.parametrize("stage", [True], indirect=True)
def test_the_actions_of_links_ask_only_the_sandbox(stage: Demo) -> None:
    catalog = stage.service.catalog
    components = [catalog.component(key) for key in demo.FORMS]
    assert all(component is not None and component.kind == "action" for component in components)
    for component in components:
        assert component is not None
        assert component.app == demo.APP
        assert (SANDBOX / "actions" / f"{component.key.removeprefix('sandbox-')}.toml").is_file()  # data, and no code
        assert not {prop["type"] for prop in component.props} & {"http_request", "dir", "sql"}
    app = catalog.app(demo.APP)
    assert app is not None
    assert set(app.spec.allowed_hosts) == {stage.service.settings.sandbox_url}
