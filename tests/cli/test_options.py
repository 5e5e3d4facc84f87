"""How commands show results and errors: one JSON object, lines or columns, a dash for what is not there, a sentence."""

import json

import pytest

from webapp.cli import options
from webapp.errors import NotFound
from webapp.service.domain.base.keyring import WrongKey
from webapp.setting_values import BadSetting


def test_one_result(capsys: pytest.CaptureFixture[str]) -> None:
    options.show({"id": "p1", "scopes": ["a", "b"], "note": None, "problems": []}, False, "Made.")
    assert capsys.readouterr().out == "Made.\n  id        p1\n  scopes    a b\n  note      –\n  problems  –\n"
    options.show({"id": "p1", "note": None}, True, "Made.")
    assert json.loads(capsys.readouterr().out) == {"id": "p1", "note": None}
    options.show({}, False)
    assert capsys.readouterr().out == ""


def test_several_rows(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": "1", "made_at": "now"}, {"id": "100", "made_at": ""}]
    options.table(rows, False, "projects", "None yet.")
    assert capsys.readouterr().out == "id   made at\n1    now\n100  –\n"
    options.table(rows, True, "projects", "None yet.")
    assert json.loads(capsys.readouterr().out) == {"projects": rows}
    options.table([], False, "projects", "None yet.")
    options.table([], True, "projects", "None yet.")
    assert capsys.readouterr().out == 'None yet.\n{"projects": []}\n'


def test_the_port_of_the_command_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHBAY_PORT", "9001")
    assert options.settings_from_env().port == 9001
    assert options.settings_from_env(9002).port == 9002
    monkeypatch.setenv("PATCHBAY_PORT", "many")
    with pytest.raises(BadSetting):
        options.settings_from_env()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (NotFound("There is no such project."), "There is no such project."),
        (BadSetting("PATCHBAY_PORT must be a number."), "PATCHBAY_PORT must be a number."),
        (WrongKey(), str(WrongKey())),
        (
            PermissionError(13, "Permission denied", "/data"),
            "/data cannot be used (permission denied); check PATCHBAY_DATA.",
        ),
        (OSError(98, "Address already in use"), "The system refused: address already in use."),
        (OSError("no number"), None),
        (KeyError("x"), None),
        (RuntimeError("a bug"), None),
        (KeyboardInterrupt(), None),
    ],
)
def test_the_sentence_of(error: BaseException, sentence: str | None) -> None:
    assert options.sentence_of(error) == sentence
