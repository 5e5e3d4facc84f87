"""The specification's resources and operations, as real answers have them: every field in its type, what is required,
how lists are paged, which version is meant, where events go.

``tests/SPEC.md`` tells which test shows which sentence. Each test here names the section that it reads.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.every import of_every
from tests.fakes.delivery_harness import DeliveryHarness
from tests.service.api.conftest import MakeWorld, World
from tests.service.conftest import GOOD_KEY
from webapp.service.api.reference import openapi
from webapp.service.api.table import OPERATIONS
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.projects import projects

HOOK = "https://hooks.example/1"
TASK, EVERY = "~/make-task", "~/every-type"

KINDS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "objects": lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value),
    "strings": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    "date-time": lambda value: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", str(value)) is not None,
    "token": lambda value: re.fullmatch(r"ctok_[0-9a-f]{32}", str(value)) is not None,
    "account": lambda value: re.fullmatch(r"apn_[a-zA-Z0-9]+", str(value)) is not None,
    "project": lambda value: re.fullmatch(r"proj_[a-zA-Z0-9]+", str(value)) is not None,
    "webhook": lambda value: re.fullmatch(r"wh_\w+", str(value)) is not None,
    "person": lambda value: re.fullmatch(r"u_\w+", str(value)) is not None,
    "null": lambda value: value is None,
}
# By section: each kind of value ("kind|null" where the specification says so) and the fields that have it. A field
# with a question mark is missing from some answers.
FIELDS: Mapping[str, Mapping[str, str]] = {
    "2.2": {"string": "connect_link_url", "date-time": "expires_at", "token": "token"},
    "2.3": {
        "string": "id name_slug name img_src custom_fields_json description auth_type", "strings": "categories",
        "integer": "featured_weight", "objects": "scope_profiles",
    },
    "2.4": {"project": "id", "string": "name app_name support_email", "boolean": "connect_require_key_auth_test"},
    "2.5": {
        "string": "key name version description component_type stash?", "objects": "configurable_props",
        "object": "annotations",
    },
    "2.5 annotations": {
        "boolean": "destructiveHint idempotentHint openWorldHint readOnlyHint", "string": "title",
    },
    "2.6": {
        "string": "name type content? label? description? alertType?",
        "boolean": "optional? disabled? readOnly? hidden? remoteOptions? useQuery? reloadProps? withLabel?",
    },
    "2.6a": {"string": "k msg?", "integer": "ts", "object": "err?"},
    "2.6a err": {"string": "name message stack"},
    "2.7": {
        "string": "id owner_id component_id name name_slug type component_key webhook_signing_key?",
        "objects": "configurable_props", "object": "configured_props", "boolean": "active emit_on_deploy",
        "integer": "created_at updated_at", "null": "callback_observations",
    },
    "2.8": {"string": "id url signing_key", "boolean": "signing_key_set"},
    "2.9": {"string": "id url", "boolean": "signing_key_set", "integer": "created_at updated_at"},
    "2.10": {
        "account": "id", "string": "external_id", "string|null": "name error", "boolean": "healthy",
        "boolean|null": "dead", "object": "app credentials?", "date-time": "created_at updated_at expires_at?",
        "strings": "authorized_scopes", "date-time|null": "last_refreshed_at next_refresh_at",
    },
    "2.10 app": {
        "string": "id name_slug name img_src custom_fields_json description", "strings": "categories",
        "integer": "featured_weight",
    },
    "2.10 credentials": {"string": "oauth_client_id oauth_access_token oauth_refresh_token oauth_uid region"},
    "2.11": {"objects": "data", "object": "page_info"},
    "2.11 page_info": {"integer": "count total_count", "string": "start_cursor end_cursor"},
    "2.12": {"string": "label value"},
    "2.13": {"string": "token"},
    "2.14": {
        "webhook": "id", "person": "user_id", "string|null": "name description", "string": "url", "boolean": "active",
        "integer": "created_at updated_at",
    },
    "4.6": {
        "objects|null": "options observations", "strings|null": "stringOptions", "object|null": "context",
        "strings": "errors",
    },
    "4.7": {"objects": "observations", "strings": "errors", "object": "dynamicProps"},
    "4.7 dynamicProps": {"string": "id", "objects": "configurableProps"},
    "4.11": {"strings": "webhook_urls", "objects": "webhooks"},
    # Native emitters answer with all fields of 2.7, and their own besides.
    "2.7 http": {"string": "endpoint_url key", "boolean": "custom_response"},
    "2.7 timer": {
        "integer|null": "interval_seconds", "string|null": "cron", "string": "timezone",
        "integer": "schedule_changed_at",
    },
    "2.7 email": {"string": "email_address"},
}  # fmt: skip
# What the wire contract adds to a section's fields; nothing else may be in an answer, for clients that take no more.
ADDED: Mapping[str, str] = {
    "2.3": "oauth_app_id",
    "2.6": (
        "default options min max secret format app auth appProp baseIdProp tableIdProp eventNames remote static "
        "customResponse accessMode sync"
    ),
    "2.8": "active delivery_state",
    "2.9": "signing_key",
    "2.10 app": "auth_type scope_profiles oauth_app_id",
}
NATIVE = {
    "http": ("http-new-requests",),
    "timer": ("schedule-cron", "schedule-custom-interval"),
    "email": ("email-new-email",),
}


def good(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json


@pytest.fixture(scope="module")
def server(shared: World) -> str:
    return shared.server()


@pytest.fixture(scope="module")
def triggers(shared: World, server: str) -> list[Any]:
    """Three deployed triggers of Alice's."""
    body = {"id": "~/poll", "external_user_id": "alice", "webhook_url": HOOK}
    return [good(shared.post("P/triggers/deploy", server, json=body))["data"] for _ in range(3)]


@pytest.fixture(scope="module")
def accounts(shared: World) -> list[Any]:
    """Three accounts: by key, by the project's own OAuth client, and one that no longer works."""
    own = {"client_id": "c", "client_secret": "s", "project_id": shared.scene.project_id}
    client = oauth_apps.add(shared.service, app="tinyoauth", **own)
    values = {"oauth_access_token": "a", "oauth_refresh_token": "r", "oauth_uid": "u-1", "region": "eu"}
    now = shared.clock()
    times = {"expires_at": now + 3_600_000, "last_refreshed_at": now, "next_refresh_at": now + 3_000_000}
    return [
        shared.plant("alice", values={"api_key": GOOD_KEY, "region": "eu"}),
        shared.plant(
            "alice", "tinyoauth", oauth_app_id=client.id, values=values, authorized_scopes=("tasks",), **times
        ),
        shared.plant("alice", dead=True, healthy=False, error="Refused.", name="Old"),
    ]


@pytest.fixture(scope="module")
def seen(shared: World, server: str, triggers: list[Any], accounts: list[Any]) -> Mapping[str, list[Any]]:
    """Examples of each resource, out of real answers, by section."""
    account = {"account": {"authProvisionId": accounts[0].id}}
    options = {"id": TASK, "external_user_id": "alice", "prop_name": "project_id", "configured_props": account}
    failing = {"id": "~/watch", "external_user_id": "alice", "prop_name": "list_id", "configured_props": account}
    configured = [good(shared.post("P/components/configure", server, json=body)) for body in (options, failing)]
    reload = {"id": TASK, "external_user_id": "alice"}
    reloaded = good(shared.post("P/actions/props", server, json=reload))
    components = [
        good(shared.get(f"P/components/{key}", server))["data"] for key in (TASK, EVERY, "~/watch", "~/writes")
    ]
    apps, project_list = (good(shared.get(f"/v1/connect/{noun}?limit=2", server)) for noun in ("apps", "projects"))
    found = [good(shared.get(f"P/accounts/{one.id}?include_credentials=true", server)) for one in accounts]
    listed = [good(shared.get(f"P/{noun}?limit=2", server)) for noun in ("accounts", "deployed-triggers")]
    webhooks = good(shared.get(f"P/deployed-triggers/{triggers[0]['id']}/webhooks?external_user_id=alice", server))
    put = good(shared.call("PUT", "P/webhook", server, json={"url": HOOK}))
    limit = {"window_size_seconds": 60, "requests_per_window": 5}
    general = urlencode({"url": HOOK, "name": "Ops", "description": "For the pager"})
    observations = [line for answer in configured for line in answer["observations"]]
    pages = [apps, project_list, *listed]
    native = {
        f"2.7 {emitter}": [deployed_native(shared, server, key) for key in keys] for emitter, keys in NATIVE.items()
    }
    return {
        **native,
        "2.2": [good(shared.post("P/tokens", server, json={"external_user_id": "alice"}))],
        "2.3": apps["data"],
        "2.4": project_list["data"],
        "2.5": components,
        "2.5 annotations": [one["annotations"] for one in components],
        "2.6": [prop for one in components for prop in one["configurable_props"]],
        "2.6a": observations,
        "2.6a err": [line["err"] for line in observations if "err" in line],
        "2.7": [*triggers, *listed[1]["data"]],
        "2.8": webhooks["webhooks"],
        "2.9": [put["data"], good(shared.get("P/webhook", server))["data"]],
        "2.10": [*found, *listed[0]["data"]],
        "2.10 app": [one["app"] for one in found],
        "2.10 credentials": [one["credentials"] for one in found if "credentials" in one],
        "2.11": pages,
        "2.11 page_info": [page["page_info"] for page in pages],
        "2.12": configured[0]["options"],
        "2.13": [good(shared.post("/v1/connect/rate_limits", server, json=limit))],
        "2.14": [good(shared.post(f"/v1/webhooks?{general}", server))["data"]],
        "4.6": configured,
        "4.7": [reloaded],
        "4.7 dynamicProps": [reloaded["dynamicProps"]],
        "4.11": [webhooks],
    }


def deployed_native(shared: World, server: str, key: str) -> Any:
    """A new trigger that needs no account, as the answers to a server show it."""
    return good(shared.post("P/triggers/deploy", server, json={"id": key, "external_user_id": "nina"}))["data"]


def known(section: str) -> set[str]:
    """The names of all fields that an answer may have there."""
    named = " ".join([*FIELDS[section].values(), ADDED.get(section, "")])
    own = {name.removesuffix("?") for name in named.split()}
    return own | known("2.7") if section.startswith("2.7 ") else own


def wrong(kinds: Mapping[str, str], example: Mapping[str, Any]) -> Iterator[str]:
    """What is missing from ``example``, or of another kind than ``kinds`` say."""
    for kind, names in kinds.items():
        for name in names.split():
            field = name.removesuffix("?")
            if field not in example:
                if field == name:
                    yield f"{field} is missing"
            elif not any(KINDS[one](example[field]) for one in kind.split("|")):
                yield f"{field} is {example[field]!r}, not {kind}"


@pytest.mark.parametrize("section", FIELDS)
def test_every_field_is_there_in_its_type(seen: Mapping[str, list[Any]], section: str) -> None:
    """Sections 2.2 to 2.14, and the answers of 4.6, 4.7 and 4.11."""
    assert seen[section]
    for example in seen[section]:
        assert list(wrong(FIELDS[section], example)) == []
        assert set(example) <= known(section)
        assert not section.startswith("2.7 ") or list(wrong(FIELDS["2.7"], example)) == []
    for name in " ".join(FIELDS[section].values()).split():
        field = name.removesuffix("?")
        shown_elsewhere = section == "2.6"  # tests/service/components/test_props.py
        assert shown_elsewhere or any(field in example for example in seen[section]), field


def test_values_that_the_specification_names(seen: Mapping[str, list[Any]], shared: World, server: str) -> None:
    """Sections 2.3, 2.5, 2.6 and 2.7: the few values that are given, and the form of ids and versions."""
    slugs = ("tinykeys", "tinyoauth", "schedule")
    keys, oauth, neither = (good(shared.get(f"/v1/connect/apps/{slug}", server))["data"] for slug in slugs)
    assert [one["auth_type"] for one in (keys, oauth, neither)] == ["keys", "oauth", "none"]
    assert oauth["scope_profiles"] == [{"name": "read_only", "scopes": ["profile"]}]
    categories = good(shared.get("/v1/connect/app_categories", server))
    assert all(re.fullmatch(r"appcat_[a-zA-Z0-9]+", one["id"]) for one in categories)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", one["version"]) for one in seen["2.5"])
    (alert,) = [prop for prop in seen["2.6"] if prop["type"] == "alert"]
    assert alert["content"] == "Mind the gap." and alert["alertType"] == "info"
    assert not any("alertType" in prop for prop in seen["2.6"] if prop["type"] != "alert")
    shown = [(one["type"], one["callback_observations"]) for one in seen["2.7"]]
    assert shown == [("DeployedComponent", None)] * 5


@pytest.mark.parametrize(
    "path", ["/v1/connect/apps", "/v1/connect/projects", "P/accounts", "P/deployed-triggers?external_user_id=alice"]
)
def test_lists_are_paged_by_after_before_and_limit(
    shared: World, server: str, triggers: list[Any], accounts: list[Any], path: str
) -> None:
    """Sections 2.11, 4.3, 4.4 and 4.10; 20 without a limit, 100 at most."""
    if path.endswith("projects"):
        for name in ("Second", "Third"):
            projects.create(shared.service, name=name)
    path += "&" if "?" in path else "?"

    def page(**query: Any) -> tuple[list[Any], Any]:
        answer = good(shared.get(path + urlencode(query), server))
        assert answer["page_info"]["count"] == len(answer["data"])
        return [one["id"] for one in answer["data"]], answer["page_info"]

    everything, whole = page(limit=100)
    total = whole["total_count"]
    assert len(everything) == min(total, 100) >= 3 and bool(whole["end_cursor"]) == (total > 100)
    assert page()[0] == everything[:20]
    # nothing follows a page that is just full
    assert page(limit=len(everything))[1]["end_cursor"] == whole["end_cursor"]
    first, info = page(limit=2)
    assert (first, info["total_count"]) == (everything[:2], total)
    after, behind = page(limit=1, after=info["end_cursor"])
    assert after == everything[2:3]
    assert page(before=behind["start_cursor"])[0] == everything[:2]
    assert page(before=behind["start_cursor"], limit=1)[0] == everything[1:2]
    assert page(after=info["start_cursor"], before=behind["start_cursor"])[0] == everything[1:2]
    for query in ("after=x", "before=x", "limit=0", "limit=101", "limit=x"):
        assert shared.get(path + query, server).status_code == 400


CALL = {"id": TASK, "external_user_id": "alice"}
TRIGGER = "P/deployed-triggers/{trigger}"
REQUIRED: list[tuple[str, str, str, Mapping[str, Any]]] = [
    ("4.2", "POST", "P/tokens", {"external_user_id": "alice"}),
    ("4.6", "POST", "P/components/configure", {**CALL, "prop_name": "title"}),
    ("4.7", "POST", "P/actions/props", CALL),
    ("4.7a", "POST", "P/actions/run", CALL),
    ("4.8", "POST", "P/triggers/deploy", {"id": "~/poll", "external_user_id": "alice"}),
    ("4.11", "PUT", f"{TRIGGER}/webhooks?external_user_id=alice", {"webhook_urls": []}),
    ("4.15", "POST", "/v1/connect/rate_limits", {"window_size_seconds": 1, "requests_per_window": 1}),
]


@pytest.mark.parametrize(("section", "method", "path", "body"), REQUIRED, ids=[one[0] for one in REQUIRED])
def test_what_is_required_is_named_when_it_is_missing_or_no_text(
    shared: World, server: str, triggers: list[Any], section: str, method: str, path: str, body: Mapping[str, Any]
) -> None:
    path = path.format(trigger=triggers[0]["id"])
    for field in body:
        values: tuple[Any, ...] = (None, {})
        for value in values:
            others = {name: given for name, given in body.items() if name != field}
            bad = others if value is None else {**others, field: value}
            answer = shared.call(method, path, server, json=bad)
            named = [one["field"] for one in answer.get_json().get("details", [])]
            assert (answer.status_code, named) == (400, [field])


@pytest.mark.parametrize(("method", "rest"), [("PUT", ""), ("PUT", "/webhooks"), ("GET", "/webhooks")])
def test_a_triggers_owner_has_to_be_named(
    shared: World, server: str, triggers: list[Any], method: str, rest: str
) -> None:
    """Sections 4.9, 4.11 and 4.12: ``external_user_id`` in the query."""
    more: dict[str, Any] = {"json": {"webhook_urls": [HOOK]}} if method == "PUT" else {}
    path = TRIGGER.format(trigger=triggers[0]["id"]) + rest
    answer = shared.call(method, path, server, **more)
    assert (answer.status_code, answer.get_json()["details"][0]["field"]) == (400, "external_user_id")
    assert good(shared.call(method, f"{path}?external_user_id=alice", server, **more))


def test_versions(shared: World, server: str) -> None:
    """Sections 4.5 to 4.8 and 9: ``version`` selects; without one, or with null, it is the latest."""

    def shown(**query: str) -> str:
        return str(good(shared.get(f"P/components/{TASK}?{urlencode(query)}", server))["data"]["version"])

    def configured(**more: Any) -> int:
        body = {**CALL, "prop_name": "urgent", "configured_props": {}, **more}
        answer = shared.post("P/components/configure", server, json=body)
        return 0 if "no prop" in answer.get_json().get("error", "") else 1  # only the latest has it

    def reloaded(**more: Any) -> int:
        found = good(shared.post("P/actions/props", server, json={**CALL, **more}))["dynamicProps"]
        return len(found["configurableProps"])

    def deployed(**more: Any) -> str:
        body = {"id": "~/follow", "external_user_id": "alice", **more}
        trigger = good(shared.post("P/triggers/deploy", server, json=body))["data"]
        path = f"P/deployed-triggers/{trigger['id']}?external_user_id=alice&extensions=true"
        changed = good(shared.call("PUT", path, server, json={"name": "Renamed", "configured_props": {}}))["data"]
        assert changed["component_id"] == trigger["component_id"]  # it keeps its version
        return str(changed["version"])

    assert (shown(), shown(version="1.0.0"), shown(version="1.1.0")) == ("1.1.0", "1.0.0", "1.1.0")
    assert (configured(), configured(version=None), configured(version="1.0.0")) == (1, 1, 0)
    assert reloaded() == reloaded(version=None) == reloaded(version="1.1.0") == 7
    assert reloaded(version="1.0.0") == 1
    assert (deployed(), deployed(version=None), deployed(version="1.0.0")) == ("1.1.0", "1.1.0", "1.0.0")
    body = {"id": "~/follow", "external_user_id": "alice", "version": "9.9.9"}
    assert shared.post("P/triggers/deploy", server, json=body).status_code == 404


def test_a_polling_trigger_takes_a_timer(shared: World, server: str) -> None:
    """Section 4.8: the component gives the schedule, and by the wire contract ``timer`` sets it, whatever the app."""
    found = good(shared.get("P/triggers?registry=public&limit=100", server))["data"]
    timers = [
        (one["key"], prop)
        for one in found
        for prop in one["configurable_props"]
        if prop["type"] == "$.interface.timer" and one["key"] not in NATIVE["timer"]
    ]
    assert len(timers) >= 4 and {(prop["name"], "default" in prop) for _, prop in timers} == {("timer", True)}
    given: dict[str, Any]
    for given in ({"intervalSeconds": 900}, {"cron": "0 * * * *", "timezone": "Europe/Berlin"}):
        body = {"id": "~/poll", "external_user_id": "alice", "configured_props": {"timer": given}}
        made = good(shared.post("P/triggers/deploy?extensions=true", server, json=body))["data"]
        assert made["schedule"] == made["configured_props"]["timer"] == given


def test_dynamic_props_of_a_deployment(shared: World, server: str) -> None:
    """Section 4.8: the values are checked against the props that ``dynamic_props_id`` names."""
    body: dict[str, Any] = {"id": "~/follow", "external_user_id": "alice", "configured_props": {"kind": "task"}}
    kept = good(shared.post("P/triggers/props", server, json=body))["dynamicProps"]
    assert [prop["name"] for prop in kept["configurableProps"]] == ["http", "kind", "task_id"]
    body["configured_props"] = {"kind": "task", "task_id": "t-7"}
    found = good(shared.post("P/triggers/deploy", server, json={**body, "dynamic_props_id": kept["id"]}))["data"]
    assert found["configured_props"] == {"kind": "task", "task_id": "t-7"}
    assert [prop["name"] for prop in found["configurable_props"]] == ["http", "kind", "task_id"]
    for asked, field in (({}, "dynamic_props_id"), ({"dynamic_props_id": "dyp_none"}, None)):
        answer = shared.post("P/triggers/deploy", server, json={**body, **asked})
        assert answer.status_code == (400 if field else 404)
        assert field is None or answer.get_json()["details"][0]["field"] == field


def test_a_connect_token_by_default_and_at_its_bounds(shared: World, server: str) -> None:
    """Sections 2.1 and 5.3: ``connect:*`` unless narrowed; from one second to four hours."""

    def made(**body: Any) -> connect_tokens.ConnectToken:
        answer = good(shared.post("P/tokens", server, json={"external_user_id": "alice", **body}))
        return connect_tokens.verify(shared.service, answer["token"])

    plain = made()
    assert plain.scopes == {"connect:*"} and plain.allow_progressive_scopes is False
    assert plain.expires_at == shared.clock() + 14_400_000
    assert [made(expires_in=given).expires_at - shared.clock() for given in (1, 14_400)] == [1_000, 14_400_000]
    everything = sorted(token_scopes.KNOWN - {"*"})
    assert made(scope=" ".join(everything)).scopes == set(everything)


def test_the_scopes_are_those_of_the_specification() -> None:
    """Section 5.5, in its order, with those of what is ours alone."""
    assert token_scopes.KNOWN - {token_scopes.AGENTS_READ, token_scopes.AGENTS_WRITE} == {"*"} | {
        f"connect:{name}"
        for name in (
            "*", "actions:*", "triggers:*", "accounts:read", "accounts:write", "deployed_triggers:read",
            "deployed_triggers:write", "users:read", "users:write", "projects:read", "projects:write", "usage:read",
            "tokens:create", "proxy", "workflow:invoke",
        )
    }  # fmt: skip


def test_the_scope_of_workflows_opens_nothing_else(shared: World) -> None:
    """Section 5.5: workflows are invoked by a trigger's events alone, so no operation asks for it."""
    assert not any("connect:workflow:invoke" in one.scopes for one in OPERATIONS)
    token = shared.server("connect:workflow:invoke")
    assert shared.get("P/accounts", token).status_code == 403
    assert shared.get("/v1/connect/apps", token).status_code == 200


@pytest.mark.parametrize("project", ["acme", "proj_", "proj_a-b", "proj_a.b", "PROJ_abc", "proj_none"])
def test_a_projects_id_in_a_path(shared: World, server: str, project: str) -> None:
    """Section 4: ``^proj_[a-zA-Z0-9]+$``; what does not match is no project's path, and what matches may be none."""
    headers = {"x-pd-environment": "development"}
    refused = shared.get(f"/v1/connect/{project}/accounts", server, headers=headers)
    absent = "There is no such project." if project == "proj_none" else "There is nothing at this address"
    assert refused.status_code == 404 and refused.get_json()["error"].startswith(absent)
    assert shared.get(f"/v1/connect/{shared.scene.project_id}/accounts", server, headers=headers).status_code == 200


CONNECT = [one for one in OPERATIONS if one.path.startswith(("P/", "/v1/connect/")) and not one.public]


@of_every("operation", CONNECT, lambda one: one.name)
def test_every_operation_of_connect_can_answer_429(shared: World, server: str, used_up: str, operation: Any) -> None:
    """Sections 4, 7 and 8: a custom limit is counted on all of them, before what is asked is looked at."""
    path = re.sub(r"<[^>]*>", "x", operation.path)
    answer = shared.call(operation.method, path, server, headers={"x-pd-rate-limit": used_up}, json={})
    assert (answer.status_code, answer.json) == (429, {"error": "Throttled"})
    assert {"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} <= set(
        answer.headers.keys()
    )


@pytest.fixture(scope="module")
def used_up(shared: World, server: str) -> str:
    """The token of a custom limit of one request a day, which was made."""
    limit = {"window_size_seconds": 86_400, "requests_per_window": 1}
    token = str(good(shared.post("/v1/connect/rate_limits", server, json=limit))["token"])
    assert good(shared.get("/v1/connect/apps", server, headers={"x-pd-rate-limit": token}))
    return token


def test_every_address_begins_with_the_version() -> None:
    """The introduction and section 9; and the version of the description."""
    assert all(rule.startswith("/v1/") for one in OPERATIONS for rule in one.rules)
    described = openapi.document(OPERATIONS, "http://localhost:8600")
    assert described["info"]["version"] == "2.0.0"
    assert described["servers"] == [{"url": "http://localhost:8600"}]


def test_events_go_where_the_deployment_and_the_webhooks_say_and_are_signed(
    make_world: MakeWorld, post: DeliveryHarness, provider: Any
) -> None:
    """Section 6, from the deployment over the API to what receivers get."""
    world = make_world(post.service, post.clock)  # which may reach the receiver
    post.scene, server = world.scene, world.server()
    url, later, flow = (post.receiver.url(path) for path in ("/given", "/set", "/flow"))
    with world.service.store.write() as tx:
        workflow = endpoints.add(tx, world.service, "workflow", flow, scene=world.scene, name="Flow")
    body = {"id": "~/poll", "external_user_id": "alice", "webhook_url": url, "workflow_id": workflow.id}
    trigger = good(world.post("P/triggers/deploy", server, json=body))["data"]
    at = f"P/deployed-triggers/{trigger['id']}"
    post.turn()
    assert sorted(one.path for one in post.receiver.got) == ["/flow", "/given"]  # emit_on_deploy
    (got,) = post.receiver.of("/given")
    given = dict(part.split("=", 1) for part in got.headers["x-pd-signature"].split(","))
    key = trigger["webhook_signing_key"]
    signed = hmac.new(key.encode(), f"{given['t']}.".encode() + got.body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(signed, given["v1"])
    asked: dict[str, Any] = {"json": {"webhook_urls": [url, later]}}
    entries = good(world.call("PUT", f"{at}/webhooks?external_user_id=alice", server, **asked))["webhooks"]
    assert {one["url"]: one["signing_key"] for one in entries}[url] == key
    good(world.post(f"{at}/test_event?external_user_id=alice", server, json={"event": {"n": 1}}))
    post.turn()
    assert [len(post.receiver.of(path)) for path in ("/given", "/set", "/flow")] == [2, 1, 2]
