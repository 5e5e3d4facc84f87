"""The commands for authors of components: write one, check it, run it."""

import json
from pathlib import Path

import pytest

from tests.cli.in_process import Commands


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ((), "say-hello/0.0.1.py"),
        (("--trigger",), "each-tick/0.0.1.py"),
        (("--declared",), "say-hello.toml"),
        (("--declared", "--trigger"), "each-slide.toml"),
    ],
)
def test_what_new_writes_is_sound(patchbay: Commands, data: Path, words: tuple[str, ...], place: str) -> None:
    folder = place.partition("/")[0].removesuffix(".toml")
    made = patchbay.json("component", "new", folder, *words)
    assert made["key"] == f"~/{folder}"
    assert Path(made["path"]) == data / "components" / place
    assert patchbay.json("component", "check") == {"files": 1, "problems": []}
    assert "already" in patchbay.refused("component", "new", folder)


def test_a_name_that_cannot_be_one(patchbay: Commands) -> None:
    assert "use lower case and hyphens" in patchbay.refused("component", "new", "Say_Hello")


def test_check_prints_what_is_wrong(patchbay: Commands, data: Path) -> None:
    path = Path(patchbay.json("component", "new", "say-hello")["path"])
    path.write_text(path.read_text().replace('label="Text", ', ""))
    done = patchbay.run("component", "check", str(path))
    assert (done.exit_code, done.stderr) == (1, "say-hello/0.0.1.py: the prop text needs a label.\n")


def test_check_prints_the_lines_of_a_file_of_data(patchbay: Commands) -> None:
    path = Path(patchbay.json("component", "new", "say-hello", "--declared")["path"])
    path.write_text(path.read_text().replace('label = "Text"\n', "").replace('"{text}"', '"{txt}"'))
    done = patchbay.run("component", "check")
    place = "components/say-hello.toml: line"
    assert done.exit_code == 1
    assert done.stderr.startswith(f"{place} 13: request.params: {{txt}} is not known here; there are text, $account")
    path.rename(path.with_name("Say_Hello.toml"))
    assert "it must be named in lower case" in patchbay.run("component", "check").stderr


def test_run_prints_what_comes_of_it_or_refuses_in_a_sentence(patchbay: Commands) -> None:
    made = patchbay.json("component", "new", "say-hello")
    for what in ("~/say-hello", made["path"]):
        done = patchbay.run("component", "run", what, "--props", '{"text": "Good day"}')
        assert done.exit_code == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["ret"], found["exports"]) == ({"text": "Good day"}, {"$summary": "Said Good day"})
    for words, said in (
        (("~/nothing",), "There is no component ~/nothing; name a key or a file."),
        (("~/say-hello", "--version", "9.0.0"), "There is no component ~/say-hello 9.0.0"),
        (("~/say-hello", "--props", "{"), "--props is not valid JSON"),
        (("~/say-hello", "--props", "[]"), "--props must be a JSON object"),
    ):
        assert said in patchbay.refused("component", "run", *words)


def test_run_a_trigger_with_its_event_and_what_it_remembers(patchbay: Commands, data: Path) -> None:
    path = Path(patchbay.json("component", "new", "each-tick", "--trigger")["path"])
    words = ("component", "run", str(path))
    found = json.loads(patchbay.run(*words, "--state", '{"count": 6, "kept": true}').stdout)
    assert [(one["e"], one["id"]) for one in found["events"]] == [({"count": 7}, "7")]
    assert found["state"] == {"count": 7, "kept": True}

    path.write_text(
        "from webapp.service.components.authoring import Trigger, http_interface\n"
        "class Told(Trigger):\n    name = description = 'Told'\n    http = http_interface(custom_response=True)\n"
        "    def activate(self, ctx): ctx.db.set('at', ctx.endpoint)\n"
        "    def deactivate(self, ctx): pass\n"
        "    def run(self, ctx):\n        ctx.emit(ctx.event['body'])\n        ctx.respond(201, 'Thanks')\n"
    )
    found = json.loads(patchbay.run(*words, "--event", '{"body": [1]}').stdout)
    assert [one["e"] for one in found["events"]] == [[1]]
    assert found["response"] == {"status": 201, "body": "Thanks"}
    found = json.loads(patchbay.run(*words, "--hook", "activate", "--endpoint", "https://a.example/h/1").stdout)
    assert (found["state"], found["response"]) == ({"at": "https://a.example/h/1"}, None)
    assert "--event is not valid JSON" in patchbay.refused(*words, "--event", "{")


def test_run_with_credentials_masks_them(patchbay: Commands, data: Path) -> None:
    path = data / "components" / "who" / "0.0.1.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "from webapp.service.components.authoring import Action, app\n"
        "class Who(Action):\n    name = description = 'Who'\n    account = app('telegram')\n    reads_secrets = True\n"
        "    def run(self, ctx):\n        ctx.log(ctx.auth['bot_token'])\n        raise ValueError('no')\n"
    )
    token = "123456:canary-token-canary-token-canary"
    words = ("component", "run", str(path), "--credentials", "-")
    done = patchbay.run(*words, input=json.dumps({"bot_token": token}))
    assert done.exit_code == 1
    assert token not in done.stdout
    assert [one["k"] for one in json.loads(done.stdout)["os"]] == ["log", "error"]
