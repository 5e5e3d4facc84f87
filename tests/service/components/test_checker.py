"""Each thing that can be wrong with a component file, and the sentence for it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from webapp.service.components.checker import check
from webapp.service.components.runner import Runner

GOOD = """
from webapp.service.components.authoring import Action, Options, airtable_base, app, integer, string, timer
class Thing(Action):
    name = "Thing"
    description = "Does a thing."
    annotations = dict(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=True)
    account = app("tiny")
    title = string(label="Title")
    def run(self, ctx): pass
"""


def test_a_good_file_has_nothing_wrong(runner: Runner, write: Callable[..., Path]) -> None:
    assert check(write(GOOD), runner.call) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "Thing"', "", 'say what it is called: name = "Create task".'),
        ('description = "Does a thing."', "", "say what it does: description, one or two sentences."),
        ("def run(self, ctx): pass", "", "it has no run()."),
        ("destructiveHint=False, ", "", "annotations must say destructiveHint, each True or False."),
        ("readOnlyHint=True", "readOnlyHint=True, colour=True", "annotations has colour, which nobody knows."),
        ("title = string", "_title = string",
         "the prop _title must be named by letters, digits and underscores, beginning with a letter."),
        ('label="Title"', "", "the prop title needs a label."),
        ('label="Title"', 'label="T", use_query=True',
         "the prop title says use_query, but has no function as options that could use a query."),
        ('label="Title"', 'label="T", options=[]', "the prop title offers an empty list of options."),
        ('label="Title"', 'label="T", default=5', "the prop title has a default that is not of its type, string."),
        ('label="Title"', 'label="T", options=["a"], default="b"',
         "the prop title has a default that is not among its options."),
        ('label="Title"', 'label="T", secret=True, default="b"', "the prop title is secret and must have no default."),
        ('string(label="Title")', 'integer(label="T", min=3, max=2)', "the prop title has a min above its max."),
        ('string(label="Title")', 'integer(label="T", default=True)',
         "the prop title has a default that is not of its type, integer."),
        ('string(label="Title")', 'airtable_base("acount", label="T")',
         "the prop title points by appProp to acount, which is no prop of this component."),
        ('label="Title"', 'label="T", reload_props=True',
         "a prop says reload_props=True, but there is no reload() to call."),
        ("def run(self", "def reload(self, ctx): return {}\n    def run(self",
         "it has reload(), but no prop says reload_props=True, so that nothing would call it."),
        ("class Thing(Action)", "class Thing",
         "it cannot be loaded. The file must hold exactly one subclass of Action or Trigger; it holds 0."),
        ('string(label="Title")', 'string(label="Title")\n    stash = "always"', 'stash must be "optional" or None.'),
        ('string(label="Title")', "undefined", "it cannot be loaded. NameError: name 'undefined' is not defined"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(runner: Runner, write: Callable[..., Path], old: str, new: str, said: str) -> None:
    assert old in GOOD
    assert check(write(GOOD.replace(old, new)), runner.call) == [f"do-thing/1.0.0.py: {said}"]


def test_names_of_file_and_folder(runner: Runner, write: Callable[..., Path]) -> None:
    assert check(write(GOOD, "actions/Do_Thing/v1.py"), runner.call) == [
        "Do_Thing/v1.py: the file must be named by its version, such as 1.0.0.py.",
        "Do_Thing/v1.py: its folder must be named in lower case with hyphens, such as create-task.",
    ]


TRIGGER = """
from webapp.service.components.authoring import Trigger, http_interface, service_db, timer
class New(Trigger):
    name = "New"
    description = "Emits."
    dedupe = "unique"
    schedule = timer(default={"intervalSeconds": 900})
    def run(self, ctx): pass
"""
HTTP = "http = http_interface()"
ON, OFF = "    def activate(self, ctx): pass\n", "    def deactivate(self, ctx): pass\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ('{"intervalSeconds": 900}', '{"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"}'),
        ('default={"intervalSeconds": 900}', 'static={"intervalSeconds": 60}'),
        ('schedule = timer(default={"intervalSeconds": 900})', f"{HTTP}\n{ON}{OFF}"),
        ('schedule = timer(default={"intervalSeconds": 900})', "native = True"),
    ],
)
def test_a_trigger_that_is_in_order(runner: Runner, write: Callable[..., Path], old: str, new: str) -> None:
    assert check(write(TRIGGER.replace(old, new)), runner.call) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("unique", "often", "dedupe must be unique, greatest, last or None."),
        ('schedule = timer(default={"intervalSeconds": 900})', "db = service_db()",
         "nothing would start it: it needs timer = timer(...) to poll, or http = http_interface() to be notified."),
        ("    schedule =", "    other = timer(default={'intervalSeconds': 9})\n    schedule =",
         "it has 2 props of timer(); one is all that it may have."),
        ('schedule = timer(default={"intervalSeconds": 900})', f"{HTTP}\n{ON}",
         "it has activate(), but no deactivate() to undo what that does at the app."),
        ('default={"intervalSeconds": 900}', "",
         'the prop schedule needs a default, such as timer(default={"intervalSeconds": 900}).'),
        ("900", "0.5", "the prop schedule has an intervalSeconds that is not a whole number of seconds, from 1 on."),
        ('"intervalSeconds": 900', '"cron": "* * *"',
         'the prop schedule has a cron that is not of five fields, such as "0 9 * * 1-5".'),
        ('"intervalSeconds": 900', '"seconds": 900',
         "the prop schedule must have either intervalSeconds or cron in its default."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_trigger(
    runner: Runner, write: Callable[..., Path], old: str, new: str, said: str
) -> None:
    assert old in TRIGGER
    assert check(write(TRIGGER.replace(old, new)), runner.call) == [f"do-thing/1.0.0.py: {said}"]
