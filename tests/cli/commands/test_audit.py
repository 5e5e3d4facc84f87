"""``patchbay audit``: who did what, newest first, as many entries as were asked for."""

from pathlib import Path

from tests.cli.in_process import Commands
from webapp import audit
from webapp.kit.clock import SECOND
from webapp.store.sqlite import SQLiteStore

HOUR_ONE = 1_767_225_600_000  # 2026-01-01T00:00:00Z


def written(data: Path, count: int) -> None:
    """``count`` entries, one a second, about the accounts apn_0, apn_1 and so on."""
    store = SQLiteStore(data / "patchbay.db")
    store.migrate()
    with audit.acting(audit.Actor("client", "c1")), store.write() as tx:
        for number in range(count):
            audit.write(tx, HOUR_ONE + number * SECOND, "account", f"apn_{number}", "tested", "The account works.")
    store.close()


def test_an_entry_says_who_did_what(patchbay: Commands, data: Path) -> None:
    written(data, 1)
    assert patchbay.json("audit") == {
        "audit": [
            {
                "at": "2026-01-01T00:00:00.000Z",
                "actor_type": "client",
                "actor": "c1",
                "noun": "account",
                "subject_id": "apn_0",
                "verb": "tested",
                "sentence": "The account works.",
            }
        ]
    }


def test_the_last_are_shown_however_many_pages_they_are(patchbay: Commands, data: Path) -> None:
    written(data, 203)
    for count in (3, 100, 202):
        subjects = [entry["subject_id"] for entry in patchbay.json("audit", "--last", str(count))["audit"]]
        assert subjects == [f"apn_{number}" for number in range(202, 202 - count, -1)]
    assert len(patchbay.json("audit", "--last", "500")["audit"]) == 203
    assert len(patchbay.json("audit")["audit"]) == 50


def test_what_a_command_does_is_done_by_it_and_can_be_looked_for(patchbay: Commands) -> None:
    assert patchbay.run("audit").stdout == "Nothing has been done yet.\n"
    acme, zeta = (patchbay.json("project", "create", "--name", name)["id"] for name in ("Acme", "Zeta"))
    client = patchbay.json("client", "create")["client_id"]
    for options, subjects in (
        ((), [client, zeta, acme]),
        (("--noun", "project"), [zeta, acme]),
        (("--subject", acme), [acme]),
        (("--project", acme), [client, acme]),
    ):
        entries = patchbay.json("audit", *options)["audit"]
        assert [entry["subject_id"] for entry in entries] == subjects
    assert [(entry["actor_type"], entry["actor"], entry["sentence"]) for entry in patchbay.json("audit")["audit"]] == [
        ("command", "patchbay client create", "The OAuth client Server was made, with the scope *."),
        ("command", "patchbay project create", "Made the project “Zeta”."),
        ("command", "patchbay project create", "Made the project “Acme”."),
    ]


def test_bad_input_is_one_sentence_and_an_exit_code(patchbay: Commands) -> None:
    assert patchbay.refused("audit", "--last", "0") == "Error: Invalid value for '--last': 0 is not in the range x>=1."
