"""The description of a piece as plain JSON, its options and dynamic fields, and packages that are none."""

import json
from pathlib import Path

import pytest

from tests.service.components.pieces.program.conftest import NAME, install
from tests.service.components.pieces.program.driver import PROGRAM, Host

KEYS = {"type": "CUSTOM_AUTH", "props": {"key": "good"}}


def test_a_description_has_flags_where_the_piece_has_functions(host: Host) -> None:
    described = host.call(method="describe").value
    assert (described["name"], described["version"], described["displayName"]) == (NAME, "1.2.3", "Sample")
    assert described["contextInfo"] == {"version": 2}
    assert described["i18n"] == {"de": {"Sample": "Beispiel"}}
    assert described["events"] == {"verify": True, "parseAndReply": True}
    (auth,) = described["auth"]
    assert (auth["type"], auth["hasValidate"], list(auth["props"])) == ("CUSTOM_AUTH", True, ["key"])
    assert "validate" not in auth
    props = described["actions"]["context"]["props"]
    assert props["dropdown"]["hasOptions"] is True
    assert props["dropdown"]["refreshers"] == ["auth", "base"]
    assert props["dynamic"]["isDynamic"] is True
    assert props["rows"]["properties"] == {"cell": {"type": "SHORT_TEXT", "displayName": "Cell"}}
    assert described["actions"]["stores"]["requireAuth"] is False
    assert described["actions"]["wants"]["wants"] == ["flows", "waitpoints", "pause", "agent", "tags"]
    assert described["actions"]["stores"]["wants"] == []
    webhook = described["triggers"]["webhook"]
    assert (webhook["type"], webhook["hasTest"], webhook["hasRenew"]) == ("WEBHOOK", False, True)
    assert webhook["handshakeConfiguration"] == {"strategy": "HEADER_PRESENT", "paramName": "X-Hook-Secret"}
    assert (described["triggers"]["polling"]["hasTest"], described["triggers"]["polling"]["sampleData"]) == (
        True,
        {"id": 0},
    )


def test_options_are_asked_of_the_piece(host: Host) -> None:
    fields = {"method": "options", "kind": "action", "name": "context", "prop": "dropdown", "auth": KEYS}
    told = {"options": [{"label": "A q good", "value": {"id": 1}}], "disabled": False, "placeholder": ""}
    assert host.call(**fields, props={"base": "A"}, query="q").value == {**told, "searches": False}
    waiting = {"options": [], "disabled": True, "placeholder": "Choose a base first"}
    assert host.call(**fields).value == {**waiting, "searches": False}


def test_options_of_a_field_are_asked_of_the_field(host: Host) -> None:
    fields = {"method": "options", "kind": "action", "name": "context", "prop": "dynamic", "auth": KEYS}
    props = {"base": "Choice", "dynamic": {"first": "1"}}
    found = host.call(**fields, field="choice", props=props, query="q").value
    assert found == {"options": [{"label": "Choice 1 q", "value": "c"}], "disabled": False, "placeholder": "",
                     "searches": True}  # fmt: skip
    for field in ("gone", "constructor"):
        error = host.call(**fields, field=field, props=props).error
        assert error is not None
        assert error["message"] == f"{field} has no options to ask for."


def test_dynamic_properties_become_fields(host: Host) -> None:
    fields = {"method": "reload", "kind": "action", "name": "context"}
    number = {"type": "NUMBER", "displayName": "Size", "required": True}
    assert host.call(**fields, props={"base": "Size"}).value == {"dynamic": {"size": number}}
    assert host.call(**fields).value == {"dynamic": {}}
    error = host.call(**fields, props={"base": "none"}).error
    assert error is not None
    assert error["message"] == "no such base"


LOAD = "return await require(program).load(folder, name).then((piece) => piece.displayName, (error) => error.message)"


@pytest.mark.parametrize(
    ("source", "kind", "answer"),
    [
        ("exports.other = 1", "commonjs", "The package is no piece: nothing that it exports has actions and triggers."),
        (
            "exports.p = { displayName: 'P', actions: {}, triggers: {} }",
            "commonjs",
            "The package is too old: it is built for an early framework. Ask for a newer version of it.",
        ),
        ("export default { displayName: 'M', actions: () => ({}), triggers: () => ({}) };", "module", "M"),
        ("export const m = 1 +;", "module", "The package could not be loaded: Unexpected token ';'"),
        (
            "\n\nexports.p = 1 +;",
            "commonjs",
            "The package could not be loaded: Unexpected token ';' (src/index.js, line 3)",
        ),
    ],
    ids=["none", "old", "module", "broken module", "broken"],
)
def test_a_package_is_a_piece_or_says_why_not(host: Host, tmp_path: Path, source: str, kind: str, answer: str) -> None:
    install(tmp_path, source)
    manifest = {"name": NAME, "main": "src/index.js", "type": kind}
    (tmp_path / "node_modules" / NAME / "package.json").write_text(json.dumps(manifest))
    values = {"program": str(PROGRAM.parent / "loading.cjs"), "folder": str(tmp_path), "name": NAME}
    constants = "".join(f"const {name} = {json.dumps(value)};" for name, value in values.items())
    assert host.run("evaluate", props={"code": constants + LOAD}).value == answer


def test_a_package_that_cannot_be_loaded_answers_each_call_with_why(node: None, tmp_path: Path) -> None:
    host = Host(install(tmp_path, "require('absent-module')"), NAME, {})
    error = {"kind": "load", "name": "LoadError", "stack": "at Object.<anonymous> (src/index.js:1:1)"}
    error["message"] = "The package could not be loaded: Cannot find module 'absent-module' (src/index.js, line 1)"
    assert host.ready == {"ready": False, "error": error}
    assert host.call(method="describe").error == error
    host.close()
