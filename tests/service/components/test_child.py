"""What each method of a component gives back, through a real runner."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from webapp.service.components.calls import AccountGrant, Call, Reply
from webapp.service.components.runner import Runner

Run = Callable[..., Reply]
Write = Callable[..., Path]

COMMON = """
from webapp.service.components.authoring import Context, Option, Options, string

def projects(ctx: Context) -> Options:
    start = ctx.previous.get("next", 0)
    labels = [f"{ctx.query}{n}" for n in range(start, start + 2)]
    return Options([Option(one, n) for n, one in enumerate(labels)], context={"next": start + 2, "page": ctx.page})

project = string(label="Project", options=projects, use_query=True, reload_props=True)
"""
TASK = """
from webapp.service.components.authoring import Action, Options, alert, app, boolean, integer, string
from ..common import project, projects

class CreateTask(Action):
    name = "Create task"
    description = "Adds a task."
    annotations = dict(readOnlyHint=False, destructiveHint=False, idempotentHint=False, openWorldHint=True)

    reads_secrets = True
    account = app("tiny")
    project_id = project
    name_ = string(label="Name")
    urgent = boolean(label="Urgent", optional=True, default=False)
    colour = string(label="Colour", optional=True, options=lambda ctx: Options(["red", "blue"]))

    def reload(self, ctx):
        return {
            "estimate": integer(label=f"Estimate for {ctx.props.project_id}", min=0),
            "parent": string(label="Parent", options=projects),
            "colour": string(label="Colour of the task"),
        }

    def run(self, ctx):
        return [dict(ctx.props), ctx.extra, ctx.label("project_id"), ctx.props.name, repr(ctx.auth), ctx.auth["key"]]
"""


@pytest.fixture
def task(write: Write) -> Path:
    write(COMMON, "common.py")
    return write(TASK, "actions/create-task/1.0.0.py")


def test_declare(runner: Runner, task: Path) -> None:
    found = runner.call(Call(path=str(task), method="declare"))
    assert found.error is None
    declared = found.value
    assert [one["name"] for one in declared["configurable_props"]] == [
        "account", "project_id", "name", "urgent", "colour",
    ]  # fmt: skip
    assert declared["configurable_props"][1] == {
        "name": "project_id", "type": "string", "label": "Project", "remoteOptions": True, "useQuery": True,
        "reloadProps": True,
    }  # fmt: skip
    assert (declared["kind"], declared["app"], declared["has_reload"]) == ("action", "tiny", True)
    assert (declared["name"], declared["description"]) == ("Create task", "Adds a task.")
    assert declared["annotations"]["openWorldHint"] is True


def test_options_get_page_query_and_the_context_of_the_page_before(runner: Runner, task: Path) -> None:
    call = Call(path=str(task), method="options", prop="project_id", page=3, query="ab", previous={"next": 6})
    assert runner.call(call).value == {
        "options": [{"label": "ab6", "value": 0}, {"label": "ab7", "value": 1}],
        "string_options": None,
        "context": {"next": 8, "page": 3},
    }


def test_options_that_are_plain_text(runner: Runner, task: Path) -> None:
    found = runner.call(Call(path=str(task), method="options", prop="colour")).value
    assert found == {"options": None, "string_options": ["red", "blue"], "context": None}


def test_options_of_a_prop_that_only_reload_knows(runner: Runner, task: Path) -> None:
    found = runner.call(Call(path=str(task), method="options", prop="parent", props={"project_id": "p"}))
    assert [one["label"] for one in found.value["options"]] == ["0", "1"]


@pytest.mark.parametrize("prop", ["name", "nothing", "account"])
def test_options_of_what_has_none_is_a_sentence(runner: Runner, task: Path, prop: str) -> None:
    reply = runner.call(Call(path=str(task), method="options", prop=prop, props={"project_id": "p"}))
    assert reply.error is not None
    assert reply.error.message == f"The prop {prop} has no options to look up."


def test_reload_gives_the_whole_new_list(runner: Runner, task: Path) -> None:
    found = runner.call(Call(path=str(task), method="reload", props={"project_id": "Alpha"})).value
    assert [(one["name"], one.get("label")) for one in found] == [
        ("account", None), ("project_id", "Project"), ("name", "Name"), ("urgent", "Urgent"),
        ("colour", "Colour of the task"), ("estimate", "Estimate for Alpha"), ("parent", "Parent"),
    ]  # fmt: skip


def test_run_gets_values_defaults_extra_values_labels_and_its_account(runner: Runner, task: Path) -> None:
    call = Call(
        path=str(task),
        props={"project_id": "p1", "name": "Ada", "estimate": 3},
        labels={"project_id": "Alpha"},
        accounts={"account": AccountGrant({"key": "canary-key"})},
    )
    props, extra, label, name, shown, key = runner.call(call).value
    assert props == {
        "account": None, "project_id": "p1", "name": "Ada", "urgent": False, "colour": None, "estimate": 3,
    }  # fmt: skip
    assert (extra, label, name) == ({"estimate": 3}, "Alpha", "Ada")
    assert (shown, key) == ("Secrets(key)", "canary-key")


def test_a_call_sees_the_accounts_that_it_was_given_and_no_other(run: Run) -> None:
    given = {"one": AccountGrant({"key": "first-key"})}
    body = (
        "reads_secrets = True\ndef run(self, ctx): return {name: dict(one.auth) for name, one in ctx.accounts.items()}"
    )
    assert run(body, accounts=given).value == {"one": {"key": "first-key"}}
    none = run("return ctx.auth['key']")
    assert none.error is not None
    assert none.error.message == "This needs a connected account; choose one."
    both = run("return ctx.auth['key']", accounts={**given, "two": AccountGrant({"key": "second-key"})})
    assert both.error is not None
    assert "has several accounts" in both.error.message


def test_a_secret_is_not_there_unless_the_component_declares_it(run: Run, tiny: Any) -> None:
    grant = {"a": tiny.grant()}
    reply = run("return ctx.auth['key']", accounts=grant)
    assert reply.error is not None and "says reads_secrets = True" in reply.error.message
    sent = run("return ctx.http.get('/x').json()['headers']['X-Key']", accounts=grant, allow_hosts=(tiny.netloc,))
    assert sent.value == tiny.grant().values["key"]


def test_secrets_are_masked_in_logs_prints_messages_and_stacks(run: Run) -> None:
    reply = run(
        """
        reads_secrets = True
        def run(self, ctx):
            import base64
            key = ctx.auth["key"]
            ctx.log("the key is", key)
            print(key, ctx.auth["region"], base64.b64encode(key.encode()).decode(), ctx.props.pin)
            os.system(f"echo from below '{key}'")
            raise ValueError(f"{key} was refused")
        """,
        accounts={"a": AccountGrant({"key": "canary-s3cret/x", "region": "europe"}, secrets=("key",))},
        props={"pin": "canary-pin"},
        mask=("canary-pin",),
    )
    shown = repr([one.to_json() for one in reply.observations])
    assert "canary" not in shown and "Y2FuYXJ5" not in shown
    assert "europe" in shown
    assert reply.error is not None
    assert reply.error.message == "ValueError: •••••• was refused"


def test_a_stack_shows_the_components_own_frames_only(run: Run, tmp_path: Path) -> None:
    reply = run(
        """
        def helper(self):
            return int("x")
        def run(self, ctx):
            return self.helper()
        """
    )
    assert reply.error is not None
    assert 'File "actions/do-thing/1.0.0.py"' in reply.error.stack
    assert "in helper" in reply.error.stack
    assert str(tmp_path) not in reply.error.stack and "child.py" not in reply.error.stack


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1", "must hold exactly one subclass of Action or Trigger; it holds 0."),
        ("def broken(:", "SyntaxError"),
        ("import nothing_like_this", "ModuleNotFoundError: No module named 'nothing_like_this'"),
        ("from ..common import absent", "cannot import name 'absent'"),
    ],
)
def test_a_file_that_cannot_be_loaded(runner: Runner, write: Write, source: str, said: str) -> None:
    write("", "common.py")
    reply = runner.call(Call(path=str(write(source)), method="declare"))
    assert reply.error is not None
    assert said in reply.error.message


def test_a_trigger_emits_and_remembers(runner: Runner, write: Write) -> None:
    path = write(
        """
        from webapp.service.components.authoring import Trigger, service_db, timer
        class New(Trigger):
            name = "New thing"
            description = "Emits what is new."
            dedupe = "unique"
            timer = timer(default={"intervalSeconds": 900})
            db = service_db()
            def run(self, ctx):
                seen = ctx.db.get("seen", 0)
                ctx.emit({"n": seen, "event": ctx.event}, id=seen, summary=f"Thing {seen}", ts=5)
                ctx.db.set("seen", seen + 1)
                ctx.log("now", ctx.db.get("seen"))
        """,
        "triggers/new-thing/1.0.0.py",
    )
    declared = runner.call(Call(path=str(path), method="declare")).value
    assert (declared["kind"], declared["dedupe"]) == ("source", "unique")
    assert declared["configurable_props"][0]["default"] == {"intervalSeconds": 900}
    reply = runner.call(Call(path=str(path), state={"seen": 4}, event={"method": "GET"}))
    (event,) = reply.events
    assert (event.event, event.id, event.summary, event.ts) == ({"n": 4, "event": {"method": "GET"}}, "4", "Thing 4", 5)
    assert reply.state == {"seen": 5}
    for hook in ("deploy", "activate", "deactivate"):
        assert runner.call(Call(path=str(path), method=hook)).error is None


HOOK = """
from webapp.service.components.authoring import ComponentError, Trigger, http_interface
class Hook(Trigger):
    name = "Hook"
    description = "Answers."
    http = http_interface(custom_response=%s)
    def run(self, ctx):
        ctx.respond(201, {"url": ctx.endpoint})
        ctx.respond(**ctx.event)
"""


def test_a_trigger_knows_its_url_and_answers_its_request(runner: Runner, write: Write) -> None:
    path = write(HOOK % True, "triggers/hook/1.0.0.py")
    call = Call(path=str(path), endpoint="http://here/h/k", event={"headers": {"X-A": "b"}, "body": "ok"})
    answer = runner.call(call).response
    assert answer is not None
    assert (answer.status, answer.body, answer.headers) == (200, "ok", {"x-a": "b"})
    reply = runner.call(replace(call, event={"headers": {"X-A": "b\r\nSet-Cookie: c"}}))
    assert reply.error is not None and "header" in reply.error.message
    assert reply.response is not None
    assert (reply.response.status, reply.response.body) == (201, '{"url":"http://here/h/k"}')
    assert reply.response.headers == {"content-type": "application/json"}
    assert runner.call(replace(call, event={"status": 99})).error is not None


def test_only_a_trigger_that_says_so_may_answer(runner: Runner, write: Write) -> None:
    reply = runner.call(Call(path=str(write(HOOK % False, "triggers/hook/1.0.0.py")), event={}))
    assert reply.error is not None and "custom_response=True" in reply.error.message
    assert reply.response is None


def test_a_component_of_the_operators_own_has_its_common_file_beside_it(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "components" / "hello").mkdir(parents=True)
    (tmp_path / "components" / "common.py").write_text("GREETING = 'Hello'\n")
    path = tmp_path / "components" / "hello" / "1.0.0.py"
    path.write_text(
        "from webapp.service.components.authoring import Action\nfrom .common import GREETING\n"
        "class Hello(Action):\n    def run(self, ctx):\n        return GREETING\n"
    )
    assert runner.call(Call(path=str(path))).value == "Hello"


def test_versions_live_side_by_side(runner: Runner, write: Write) -> None:
    source = "from webapp.service.components.authoring import Action\nclass A(Action):\n    def run(self, ctx): return "
    old, new = (write(f"{source}{number}", f"actions/a/{number}.0.0.py") for number in (1, 2))
    assert [runner.call(Call(path=str(one))).value for one in (old, new, old)] == [1, 2, 1]


def test_options_of_another_shape_are_refused(run: Run) -> None:
    body = """
    one = string(label="One", options=lambda ctx: [1])
    two = string(label="Two", options=lambda ctx: Options([Option("a", 1), "b"]))
    def run(self, ctx): pass
    """
    for prop, said in (("one", "must come as Options"), ("two", "must be all Option or all text")):
        reply = run(body, method="options", prop=prop)
        assert reply.error is not None and said in reply.error.message


def test_reload_of_another_shape_is_refused(run: Run) -> None:
    reply: Any = run("def reload(self, ctx): return [1]\ndef run(self, ctx): pass", method="reload")
    assert reply.error.message == "reload() must return props by their names."
