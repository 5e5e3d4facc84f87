"""Triggers, events, deliveries, webhooks, runs and files of somebody else are absent: for the pages of the dashboard,
and wherever a value can name them.

Every operation of the API that names such a thing in its address stands in tests/service/api/test_tenancy.py.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.browser import Browser
from tests.fakes.deployed import emit, plant_trigger_of
from tests.fakes.installation import prepared
from tests.fakes.tenants import Tenants, comparable, connected
from tests.fakes.thirdparty import CLIENT_SECRET, ThirdParty
from webapp.kit.crypto import new_id
from webapp.kit.cursors import Window
from webapp.service.domain.accounts import app_overrides, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.app_overrides import Draft
from webapp.service.domain.components import dynamic_props, file_stash, runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.deliveries import endpoints, log, trigger_webhooks
from webapp.service.domain.deliveries.log import Filter

HEAD = "from webapp.service.components.authoring import *\n"
ACT = """
class Act(Action):
    name = "Act"
    description = "Tells whose account it has, and which files it finds."
    annotations = dict(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=True)
    account = app("acme_keys")
    pick = string(label="Pick", optional=True, options=lambda ctx: Options([ctx.http.get("/me").json()["name"]]))
    kind = string(label="Kind", optional=True, reload_props=True)

    def reload(self, ctx):
        return {"size": integer(label="Size", optional=True)}

    def run(self, ctx):
        return [ctx.http.get("/me").json()["name"], sorted(one.name for one in ctx.files.path("x").parent.iterdir())]
"""
SEE = """
class See(Trigger):
    name = "See"
    description = "Watches an account."
    account = app("acme_keys")
    timer = timer(default={"intervalSeconds": 60})

    def activate(self, ctx):
        ctx.http.get("/me")

    def run(self, ctx):
        ctx.emit(ctx.http.get("/me").json())
"""
TIMER = "schedule-custom-interval"
EVERY = {"cron": {"intervalSeconds": 900}}
KEPT = ("deployed_triggers", "trigger_accounts", "trigger_workflows", "endpoints", "events", "deliveries",
        "delivery_attempts", "runs", "stashed_files", "provider_clients", "app_overrides", "accounts")  # fmt: skip


@pytest.fixture(scope="module")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory, running_party: ThirdParty) -> Path:
    """The third party's apps, an action and a trigger."""
    folder = tmp_path_factory.mktemp("tenants")
    for place, text in (("act/1.0.0.py", ACT), ("see/1.0.0.py", SEE)):
        (folder / "components" / place).parent.mkdir(parents=True)
        (folder / "components" / place).write_text(HEAD + text)
    return prepared(folder, running_party.apps)


@dataclass(frozen=True)
class Belongings:
    """What somebody has, by the names that addresses give it."""

    ids: dict[str, str]


def settle(tenants: Tenants, account: Account) -> Belongings:
    """Give the owner of ``account`` one of everything."""
    service, scene, user = tenants.installation.service, account.scene, account.external_id
    trigger, _ = plant_trigger_of(service, scene, TIMER, EVERY, user=user)
    mark = new_id("x").replace("_", "-")
    with service.store.write() as tx:
        trigger_webhooks.set_urls(tx, service, trigger, [f"https://events.example.com/{mark}"])
        workflow = endpoints.add(tx, service, "workflow", f"https://w.example.com/{mark}", scene=scene, name=mark)
        stash = file_stash.new_stash_id()
        file_stash.keep(service, tx, scene, user, stash, f"{mark}.txt", "text/plain", b"hello")
    (event,) = emit(service, trigger, {"n": 1})
    (delivery,) = log.page(service.store, trigger.id, Filter(), Window()).items
    (webhook,) = trigger_webhooks.of_trigger(service.store, trigger.id)
    component, app = service.catalog.component("~/act"), service.catalog.app("acme_keys")
    assert component is not None and app is not None
    run = Run(user, component.id, component.key, component.version, None, service.clock(), 5, True)
    runs.begin(service, scene, run, {"configured_props": {}})
    runs.end(service, scene, run, outputs={"ret": mark})
    client = oauth_apps.add(
        service, app="acme", client_id=mark, client_secret=CLIENT_SECRET, project_id=scene.project_id
    )
    return Belongings({
        "account_id": account.id, "trigger_id": trigger.id, "endpoint_id": webhook.id, "delivery_id": delivery["id"],
        "entry_id": delivery["id"], "event_id": event.id, "run_id": run.id, "workflow_id": workflow.id,
        "stash_id": stash,
        "oauth_app_id": client.id, "dynamic_props_id": dynamic_props.keep(service, scene, user, component.id, []),
        "app_override_id": app_overrides.create(service, scene.project_id, app, Draft(mark, None, {})).id,
    })  # fmt: skip


ABSENT = {
    "account_id": "apn", "trigger_id": "ti", "endpoint_id": "wh", "delivery_id": "dlv", "event_id": "evt",
    "entry_id": "dlv", "run_id": "run", "workflow_id": "p", "stash_id": "stash", "oauth_app_id": "oa",
    "dynamic_props_id": "dyp", "app_override_id": "aov",
}  # fmt: skip
OF_PROJECT = ("oauth_app_id", "app_override_id")  # both environments and all users share them


class Street:
    """Ada, what she has, and what others have; :meth:`compare` asks for one thing after the other."""

    def __init__(self, tenants: Tenants) -> None:
        self.tenants = tenants
        self.mine = settle(tenants, connected(tenants.installation, tenants.installation.scene, tenants.ada.id))
        self.strangers = {label: settle(tenants, account) for label, account in tenants.foreign.items()}
        self.absent = Belongings({name: new_id(prefix) for name, prefix in ABSENT.items()})
        tenants.party.calls.clear()

    def kept(self) -> dict[str, list[dict[str, Any]]]:
        """All rows that Ada must not change."""
        read = self.tenants.installation.service.store.all
        found = {one: read(f"SELECT * FROM {one} ORDER BY 1") for one in KEPT}
        for row in found["deployed_triggers"]:
            del row["turn"]  # also grows when a change of one's own is refused
        return found

    def compare(self, ask: Callable[[dict[str, str]], Any], *names: str) -> Any:
        """What is not there, and the same thing of everybody else's: the answers, without the ids, are the same."""
        expected = ask({**self.mine.ids, **{name: self.absent.ids[name] for name in names}})
        for label, one in self.strangers.items():
            if label == "another project's" or not set(names) & set(OF_PROJECT):
                assert ask({**self.mine.ids, **{name: one.ids[name] for name in names}}) == expected, (label, names)
        return expected


@pytest.fixture
def street(tenants: Tenants) -> Street:
    return Street(tenants)


def routes(street: Street) -> Iterator[tuple[str, str, set[str]]]:
    """The dashboard's routes about such things: method, rule and what it names."""
    for rule in street.tenants.installation.app.url_map.iter_rules():
        named = set(re.findall(r"<(?:[\w(), ]+:)?(\w+)>", rule.rule)) & {"trigger_id", "run_id"}
        if rule.endpoint.startswith("dashboard.") and named:
            for method in sorted((rule.methods or set()) & {"GET", "POST", "DELETE"}):
                yield method, rule.rule, set(re.findall(r"(\w+_id)>", rule.rule))


def test_every_dashboard_route(street: Street, adas: Browser) -> None:
    found = re.search(r'name="csrf_token" value="([^"]+)"', adas.visit("/settings").text)
    assert found
    form = {
        "csrf_token": found[1], "url": "https://mine.example.com/", "since": "2026-01-01T00:00", "anyway": "1",
        "confirmed": "1",
    }  # fmt: skip
    before, asked = street.kept(), 0

    def page(method: str, rule: str, ids: dict[str, str], headers: dict[str, str]) -> tuple[Any, ...]:
        path = re.sub(r"<(?:[\w(), ]+:)?(\w+)>", lambda name: {**PLACES, **ids}[name[1]], rule)
        answer = adas._ask(method, path, None if method == "GET" else form, headers)
        return comparable(answer, *ids.values())

    for method, rule, named in routes(street):
        for headers in ({}, {"HX_Request": "true", "HX_Request_Type": "partial"}):
            for names in {("trigger_id",), ("trigger_id", *named), tuple(named - {"trigger_id"})}:
                if not set(names) & named:
                    continue
                answers = street.compare(lambda ids: page(method, rule, ids, headers), *names)  # noqa: B023
                assert answers[0] in ((200, 204, 404) if rule.endswith("/news") else (404,)), (method, rule, answers)
                asked += 1
    assert asked > 80
    assert street.kept() == before
    assert street.tenants.party.calls == []


PLACES = {"slug": "acme_keys", "kind": "actions", "key": "~/act", "tab": "deliveries"}


def test_lists_and_drafts_show_ones_own_only(street: Street, adas: Browser) -> None:
    ids = street.mine.ids
    for path in ("/", "/triggers", "/logs", "/accounts", "/apps/schedule", "/apps/acme_keys/actions/~/act",
                 f"/triggers/{ids['trigger_id']}/deliveries", f"/apps/schedule/triggers/{TIMER}"):  # fmt: skip
        text = adas.visit(path).text
        for label, one in street.strangers.items():
            found = [name for name, given in one.ids.items() if given in text and name not in OF_PROJECT]
            assert found == [], (path, label)
    assert ids["trigger_id"] in adas.visit("/triggers").text

    def edited(given: dict[str, str]) -> tuple[Any, ...]:
        page = adas.visit(f"/apps/schedule/triggers/{TIMER}?trigger={given['trigger_id']}")
        return comparable(page, given["trigger_id"])

    assert street.compare(edited, "trigger_id")[0] in (200, 404)
    mine = edited(ids)
    assert mine != edited(street.absent.ids), "the page of a trigger that is edited differs from a new one's"


def calls(ids: dict[str, str]) -> dict[str, tuple[str, str, dict[str, Any], tuple[str, ...]]]:
    """Calls whose body names a thing: method, path, body, and the names of what may be somebody else's."""
    act = {"id": "~/act", "configured_props": {"account": {"authProvisionId": ids["account_id"]}}}
    see = {**act, "id": "~/see"}
    dynamic = {**act, "dynamic_props_id": ids["dynamic_props_id"]}
    mine = f"deployed-triggers/{ids['trigger_id']}"
    return {
        "run": ("POST", "actions/run", act, ("account_id",)),
        "run any": ("POST", "components/run", act, ("account_id",)),
        "options": ("POST", "actions/configure", {**act, "prop_name": "pick"}, ("account_id",)),
        "reload": ("POST", "actions/props", act, ("account_id",)),
        "run with dynamic props": ("POST", "actions/run", dynamic, ("dynamic_props_id",)),
        "reload dynamic props": ("POST", "actions/props", dynamic, ("dynamic_props_id",)),
        "run in a stash": ("POST", "actions/run", {**act, "stash_id": ids["stash_id"]}, ("stash_id",)),
        "deploy": ("POST", "triggers/deploy", see, ("account_id",)),
        "deploy with dynamic props": (
            "POST", "triggers/deploy", {**see, "dynamic_props_id": ids["dynamic_props_id"]}, ("dynamic_props_id",)),
        "deploy to a workflow": (
            "POST", "triggers/deploy", {"id": TIMER, "configured_props": EVERY, "workflow_id": ids["workflow_id"]},
            ("workflow_id",)),
        "workflows": ("PUT", f"{mine}/pipelines", {"workflow_ids": [ids["workflow_id"]]}, ("workflow_id",)),
        "change": ("PUT", mine, {"dynamic_props_id": ids["dynamic_props_id"]}, ("dynamic_props_id",)),
        "connect with a preset": (
            "POST", "accounts",
            {"app_slug": "acme_keys", "cfmap_json": "{}", "app_override_id": ids["app_override_id"]},
            ("app_override_id",)),
        "preset a client": (
            "POST", "app_overrides", {"app": "acme", "name": "New", "oauth_app_id": ids["oauth_app_id"]},
            ("oauth_app_id",)),
    }  # fmt: skip


def test_values_that_name_a_thing_of_somebody_elses(street: Street) -> None:
    tenants = street.tenants
    server, frontend = tenants.installation.server_token(), tenants.installation.token(tenants.ada.id)
    before = street.kept()

    def ask(name: str, ids: dict[str, str], token: str) -> tuple[int, str]:
        method, path, body, names = calls(ids)[name]
        body = {"external_user_id": tenants.ada.id, "connect_token": frontend, **body}
        query = {"external_user_id": tenants.ada.id} if path.startswith("deployed") else {}
        answer = tenants.installation.api(method, path, token, json=body, params=query)
        text = answer.text
        for one in (ids[each] for each in names):
            text = text.replace(one, "ID")
        return answer.status_code, re.sub(r'"(ts|took_ms)":\d+|run_\w+|/v1/files/[\w.-]+', "", text)

    everybody = dict(street.strangers)
    for name, (*_, names) in calls(street.mine.ids).items():
        # Every user of an environment shares its workflows.
        street.strangers = {label: one for label, one in everybody.items()
                            if names != ("workflow_id",) or label != "another person's"}  # fmt: skip
        for token in (server, frontend):
            status, text = street.compare(lambda ids: ask(name, ids, token), *names)  # noqa: B023
            if names == ("stash_id",):
                assert status == 200 and '["Ada",[]]' in text, "a run finds nothing in a stash of somebody else's"
                assert ".txt" in ask(name, street.mine.ids, token)[1], "and finds what is in its own"
                tenants.party.calls.clear()
                before = street.kept()
            else:
                is_told = status == 200 and '"errors":["There is no such account."]' in text  # configure and reload
                assert status in (400, 403, 404) or is_told, (name, text)
                assert street.kept() == before and tenants.party.calls == [], name


def test_a_link_with_a_preset_or_client_of_another_project(street: Street) -> None:
    browser = Browser(street.tenants.installation.url)
    token = street.tenants.installation.token(street.tenants.ada.id, allowed_origins=["https://app.example.com"])

    def opened(app: str, parameter: str, name: str) -> Callable[[dict[str, str]], tuple[Any, ...]]:
        def ask(ids: dict[str, str]) -> tuple[Any, ...]:
            link = street.tenants.installation.link(token, app, **{parameter: ids[name]})
            return comparable(browser.frame(link), ids[name])

        return ask

    for app, parameter, name in (
        ("acme_keys", "appOverrideId", "app_override_id"), ("acme", "oauthAppId", "oauth_app_id"),
        ("acme", "customOauthClient", "oauth_app_id"),
    ):  # fmt: skip
        ask = opened(app, parameter, name)
        street.compare(ask, name)
        assert ask(street.mine.ids)[0] == 200
    browser.close()
