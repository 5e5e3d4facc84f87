"""``patchbay import-accounts``: from a file to accounts, with a report that holds no secret."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.in_process import Commands
from webapp.service.domain.accounts import provider
from webapp.service.domain.accounts.provider import CheckResult
from webapp.service.domain.instance import hosted_servers

HEADER = "external_user,app,id,credentials\n"
FIELDS = '{"host": "localhost", "database": "a", "user": "u", "password": "canary-pw"}'
GOOD = 'alice,postgresql,1,"' + FIELDS.replace('"', '""') + '"\n'


def test_a_file_is_imported_and_reported_without_its_secrets(patchbay: Commands, tmp_path: Path) -> None:
    patchbay.json("init")
    file, report = tmp_path / "accounts.csv", tmp_path / "report.jsonl"
    file.write_bytes(("\ufeff" + HEADER + GOOD).encode() + b"b\xff,postgresql,2,canary-pw\ncarol,absent,3,\n")
    words = ("import-accounts", str(file), "--no-test", "--report", str(report))
    done = patchbay.run(*words)
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "Line 3, no account: not valid. external_user contains control characters, or is not UTF-8.",
        "Line 4, absent carol 3: not valid. There is no app 'absent'; `patchbay catalog check` lists them.",
        "3 rows: 1 imported, 2 not valid.",
    ]
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert [(line["line"], line["result"]) for line in lines] == [(2, "imported"), (3, "invalid"), (4, "invalid")]
    assert lines[0]["account"].startswith("apn_") and "canary" not in report.read_text() + done.output
    assert report.stat().st_mode & 0o077 == 0
    again = patchbay.run(*words, "--json")
    counts = json.loads(again.stdout)
    assert (counts["imported"], counts["there"], counts["invalid"], again.exit_code) == (0, 1, 2, 1)


def test_standard_input_and_other_environments(patchbay: Commands) -> None:
    patchbay.json("init")
    lines = HEADER + GOOD
    words = ("import-accounts", "-", "--format", "csv", "--no-test")
    assert patchbay.json(*words, "--dry-run", input=lines)["valid"] == 1
    assert patchbay.json(*words, input=lines)["imported"] == 1
    assert patchbay.json(*words, "--environment", "development", input=lines)["imported"] == 1
    assert patchbay.json(*words, input=lines)["there"] == 1
    assert patchbay.run(*words, input=HEADER).stdout == "The file has no rows.\n"


def test_bad_calls_are_one_sentence(patchbay: Commands, tmp_path: Path) -> None:
    file = tmp_path / "accounts.csv"
    file.write_text(HEADER)
    assert (
        patchbay.refused("import-accounts", str(file)) == "Error: There is no project yet; `patchbay init` makes one."
    )
    patchbay.json("init")
    refused = patchbay.refused("import-accounts", str(file), "--environment", "test")
    assert "is not one of 'development', 'production'" in refused
    assert patchbay.refused("import-accounts", "accounts.txt").startswith("Error: Say what the file is")
    assert "cannot be read (no such file or directory)" in patchbay.refused("import-accounts", str(tmp_path / "a.csv"))
    file.write_text("user,app\n")
    assert "a column that is not known: 'user'" in patchbay.refused("import-accounts", str(file))
    assert "There is no such project." in patchbay.refused("import-accounts", str(file), "--project", "proj_absent")


def test_the_first_account_of_each_app_has_its_server_asked_for_tools(
    patchbay: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()
    monkeypatch.setattr(hosted_servers, "read_tools", lambda _, account: asked.append(account.id))
    accepted = SimpleNamespace(values={"token": "canary"}, expires_at=None), CheckResult("ok")
    monkeypatch.setattr(provider, "identify_session", lambda *_: accepted)
    patchbay.json("init")
    lines = [json.dumps({"external_user": user, "app": "exa", "credentials": {"api_key": user}}) for user in "abc"]
    words = ("import-accounts", "-", "--format", "jsonl")
    assert patchbay.json(*words, "--no-test", input=lines[0])["imported"] == 1
    assert asked == []
    assert patchbay.json(*words, "--at-once", "1", input="\n".join(lines))["imported"] == 2
    assert len(asked) == 1
