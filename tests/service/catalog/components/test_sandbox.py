"""The sandbox's actions against the sandbox itself, as its people connect it by OAuth."""

import threading
from collections.abc import Callable, Iterator

import pytest
from werkzeug.serving import make_server

from tests.sandbox.conftest import Served, build
from tests.service.catalog.components.action_harness import ActionHarness
from webapp.kit.clock import FakeClock, now
from webapp.service.catalog.index import Catalog
from webapp.service.components import prop_types
from webapp.service.components.executor import Executor
from webapp.service.components.loader import load, props_of

PLAIN, DEMANDING = "prj_001", "prj_005"  # without fields of its own; with a choice, a number, a text and a boolean
Action = Callable[..., ActionHarness]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running sandbox."""
    clock, folder = FakeClock(now()), tmp_path_factory.mktemp("sandbox")
    server = make_server("127.0.0.1", 0, lambda environ, start: app(environ, start), threaded=True)
    url = f"http://127.0.0.1:{server.server_port}"
    app = build(folder, url, clock)
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    yield Served(url, folder, clock, app)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def action(served: Served, runner: Executor) -> Action:
    """An action by its name, with an account that may do everything unless another ``scope`` is given."""
    tokens = {"": served.connect()["access_token"]}

    def made(name: str, scope: str = "") -> ActionHarness:
        if scope not in tokens:
            tokens[scope] = served.connect(scope)["access_token"]
        return ActionHarness(runner, "sandbox", name, served.url, {"oauth_access_token": tokens[scope]})

    return made


def test_a_project_is_searched_among_200_and_paged(action: Action) -> None:
    create = action("create-task")
    pages = [create.options("project_id", page=page) for page in range(5)]
    assert [len(page) for page in pages] == [50, 50, 50, 50, 0]
    assert len({value for page in pages for _, value in page}) == 200
    assert create.options("project_id", query="harbour renov") == [
        ("Harbour Renovation", "prj_001"),
        ("Harbour Renovation II", "prj_101"),
    ]
    assert create.options("project_id", query="nothing like it") == []


def test_the_fields_of_the_project_appear(action: Action) -> None:
    create = action("create-task")
    own = ["account", "project_id", "title", "notes", "due", "done"]
    assert list(create.reload()) == own
    assert list(create.reload(project_id=PLAIN)) == own
    shown = create.reload(project_id=DEMANDING)
    assert list(shown) == [*own, "field_room", "field_cost", "field_supplier", "field_indoors"]
    assert [shown[name]["type"] for name in list(shown)[6:]] == ["string", "integer", "string", "boolean"]
    assert [shown[name].get("optional", False) for name in list(shown)[6:]] == [True, False, False, True]
    assert [one["value"] for one in shown["field_room"]["options"]] == ["Hall", "Attic", "Cellar"]


def test_create_find_update_delete(action: Action) -> None:
    fields = {"field_cost": 12, "field_supplier": "Ada & Co", "field_room": "Attic", "field_indoors": None}
    given = {"project_id": DEMANDING, "title": "Paint", "due": "2030-01-31", "done": False}
    task, summary = action("create-task").ret({"project_id": "Quarry Renovation"}, **given, **fields)
    assert summary == "Created task Paint in Quarry Renovation"
    assert (task["due"], task["done"]) == ("2030-01-31", False)
    assert task["fields"] == {"cost": 12, "supplier": "Ada & Co", "room": "Attic"}

    update = action("update-task")
    assert ("Paint", task["id"]) in update.options("task_id", project_id=DEMANDING)
    assert update.options("task_id", project_id=DEMANDING, query="no such title") == []
    shown = update.reload(project_id=DEMANDING, task_id=task["id"])
    assert list(shown)[:4] == ["account", "project_id", "task_id", "title"]
    assert (shown["title"]["default"], shown["field_cost"]["default"]) == ("Paint", 12)
    assert shown["field_cost"]["optional"]
    changed, _ = update.ret(project_id=DEMANDING, task_id=task["id"], done=True, field_room="Hall")
    assert (changed["title"], changed["done"], changed["fields"]["room"]) == ("Paint", True, "Hall")
    assert changed["fields"]["supplier"] == "Ada & Co"

    find = action("find-tasks")
    found, summary = find.ret(text="pain", project_id=DEMANDING)
    assert ([one["id"] for one in found["tasks"]], found["total"], summary) == ([task["id"]], 1, "Found 1 task")
    assert find.ret(text="pain", project_id=PLAIN)[0]["total"] == 0
    assert find.ret(text="pain", since="2999-01-01T00:00:00Z")[0]["total"] == 0
    assert "ISO 8601" in find.error(since="yesterday")

    gone, summary = action("delete-task").ret({"task_id": "Paint"}, project_id=DEMANDING, task_id=task["id"])
    assert (gone, summary) == ({"id": task["id"], "deleted": True}, "Deleted task Paint")
    assert "no such task" in action("delete-task").error(project_id=DEMANDING, task_id=task["id"])


def test_what_the_sandbox_refuses_is_said(action: Action) -> None:
    create = action("create-task")
    assert "This project needs Cost in euros." in create.error(project_id=DEMANDING, title="Paint")
    assert "status 404" in create.error(project_id="../me", title="Paint")
    assert "no such project" in create.error(project_id="prj_999", title="Paint")
    reader = action("create-task", "profile tasks:read")
    assert "does not include tasks:write" in reader.error(project_id=PLAIN, title="Paint")


def test_a_dead_token_is_reported_by_its_status(served: Served, runner: Executor) -> None:
    reply = ActionHarness(runner, "sandbox", "list-projects", served.url, {"oauth_access_token": "wrong"}).run()
    assert reply.error is not None
    assert (reply.error.kind, reply.error.status) == ("http", 401)


def test_list_projects(action: Action) -> None:
    found, summary = action("list-projects").ret(page=2, per_page=30)
    assert (len(found["projects"]), found["total"], summary) == (30, 200, "Listed 30 of 200 projects")
    assert action("list-projects").ret(text="library")[0]["total"] == 20


def test_every_type_and_flag_is_on_show(action: Action) -> None:
    shown = action("show-all-props")
    props = props_of(load(shown.path))
    constructors = [getattr(prop_types, name) for name in vars(prop_types) if name in CONSTRUCTORS]
    assert len(constructors) == len(CONSTRUCTORS)
    assert {one.type for one in props.values()} == TYPES
    wire = [one.to_json(name) for name, one in props.items()]
    flags = {key for one in wire for key, value in one.items() if value is True}
    assert flags >= FLAGS
    assert {one["alertType"] for one in wire if one["type"] == "alert"} == {"info", "neutral", "warning", "error"}
    assert {key for one in wire for key in one} >= {"min", "max", "format", "default", "options"}


def test_the_values_come_back(action: Action) -> None:
    show = action("show-all-props")
    given = {"text": "Hi", "text_secret": "hunter2", "numbers": [1, 2], "fields": {"a": 1}, "anything": [None]}
    (echoed, summary) = show.ret({"choices": "Lemon"}, **given, choices=["l"], more=1, field_1="extra")
    values = echoed["values"]
    assert values | given | {"text_secret": "7 characters", "field_1": "extra", "choices": ["l"]} == values
    assert (values["number"], values["yes"], values["text_hidden"]) == (3, True, "Not shown")
    assert echoed["labels"] == {"choices": "Lemon"}
    assert summary == f"Received {len(values)} values"


def test_options_and_reloads_of_the_show(action: Action) -> None:
    show = action("show-all-props")
    first = show.ask_options("number_of_many")
    assert first.value["string_options"] == [str(number) for number in range(1, 11)]
    second = show.ask_options("number_of_many", page=1, previous=first.value["context"])
    assert second.value["string_options"][0] == "11"
    assert show.options("base", query="Harbour Renovation") == show.options("channel", query="Harbour Renovation")
    reply = show.call("options", {}, prop="field")
    assert reply.error is not None
    assert reply.error.message == "No project is chosen yet. Choose one first."
    assert ("Room", "room") in show.options("field", base=DEMANDING, table="x")
    assert "tasks" in show.ask_options("query").value["context"]["dbInfo"]
    assert "field_3" in show.reload(more=3)
    assert "field_4" not in show.reload(more=3)


CONSTRUCTORS = {
    "app", "alert", "string", "string_list", "integer", "integer_list", "boolean", "object_", "any_", "sql",
    "http_request", "data_store", "dir_", "http_interface", "timer", "apphook", "service_db", "airtable_base",
    "airtable_table", "airtable_view", "airtable_field", "discord_channel", "discord_channel_list",
}  # fmt: skip
TYPES = {
    "app", "alert", "string", "string[]", "integer", "integer[]", "boolean", "object", "any", "sql", "http_request",
    "data_store", "dir", "$.interface.http", "$.interface.timer", "$.interface.apphook", "$.service.db",
    "$.airtable.baseId", "$.airtable.tableId", "$.airtable.viewId", "$.airtable.fieldId", "$.discord.channel",
    "$.discord.channel[]",
}  # fmt: skip
FLAGS = {
    "optional", "disabled", "readOnly", "hidden", "remoteOptions", "useQuery", "reloadProps", "withLabel", "secret",
}  # fmt: skip


def test_its_documentation_is_where_the_sandbox_runs(shipped: Catalog) -> None:
    found = shipped.component("sandbox-create-task")
    assert found is not None
    assert found.description.endswith("[See the documentation](http://localhost:8001/)")
