"""Rows of a file: each is read or has a problem of its own, and no problem repeats a value."""

import io
import json

import pytest

from webapp.errors import Invalid
from webapp.service.domain.accounts import import_files
from webapp.service.domain.accounts.import_files import Row

CANARY = "canary-secret"


def of_csv(text: str) -> list[Row]:
    return list(import_files.rows(io.StringIO(text, newline=""), "csv"))


def of_json(*members: object) -> list[Row]:
    lines = (member if isinstance(member, str) else json.dumps(member) for member in members)
    return list(import_files.rows(io.StringIO("\n".join(lines)), "jsonl"))


def test_both_forms_say_the_same() -> None:
    values = {
        "external_user": "u-1", "app": "acme", "id": "7", "name": "Work", "oauth_client": "c", "access_token": "a",
        "refresh_token": "r", "expires_at": "2027-01-31T12:00:00Z", "scopes": "read, write",
        "credentials": '{"site": "x"}',
    }  # fmt: skip
    header = ",".join(import_files.COLUMNS)
    quoted = ",".join('"' + values[name].replace('"', '""') + '"' for name in import_files.COLUMNS)
    (row,) = of_csv(f"{header}\n{quoted}\n")
    structured = {**values, "expires_at": 1801396800, "scopes": ["read", "write"], "credentials": {"site": "x"}}
    (other,) = of_json(structured)
    assert row.problem is None and (row.line, other.line) == (2, 1)
    assert (row.expires_at, row.scopes, row.credentials) == (1801396800000, ("read", "write"), {"site": "x"})
    assert other == Row(1, *(getattr(row, name) for name in import_files.COLUMNS))


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("external_user,app,token", "a column that is not known: 'token'"),
        ("external_user,app,app", "the column app more than once"),
        ("app,id", "lacks the column external_user"),
        ("", "lacks the column external_user"),
        ('external_user,"app', "no line of CSV"),
    ],
)
def test_a_header_that_loses_values_is_refused(header: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        of_csv(f"{header}\nu,a,{CANARY}\n" if '"' not in header else header)


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"app": "acme", "refresh_token": CANARY}, "external_user is missing."),
        ({"external_user": "u", "refresh_token": CANARY}, "app is missing."),
        ({"external_user": "u", "app": "acme", "token": CANARY}, "a member that is not known"),
        ({"external_user": "u", "app": "acme", "refresh_token": [CANARY]}, "refresh_token must be a string."),
        ({"external_user": "u", "app": "acme", "refresh_token": f"{CANARY} b"}, "characters that no token has"),
        ({"external_user": "u", "app": "acme", "access_token": f"{CANARY}é"}, "characters that no token has"),
        ({"external_user": "u", "app": "acme", "access_token": CANARY * 2000}, "access_token is longer than 20,000"),
        ({"external_user": "u\0", "app": "acme", "access_token": CANARY}, "external_user contains control characters"),
        ({"external_user": "u\udcff", "app": "acme", "access_token": CANARY}, "or is not UTF-8"),
        ({"external_user": "u", "app": "acme", "expires_at": "tomorrow"}, "expires_at must be a time"),
        ({"external_user": "u", "app": "acme", "expires_at": "2027-01-31T12:00:00"}, "expires_at must be a time"),
        ({"external_user": "u", "app": "acme", "expires_at": 10**30}, "expires_at must be a time"),
        ({"external_user": "u", "app": "acme", "expires_at": True}, "expires_at must be a time"),
        ({"external_user": "u", "app": "acme", "scopes": [1]}, "scopes must be names"),
        ({"external_user": "u", "app": "acme", "scopes": [str(number) for number in range(501)]}, "at most 500"),
        ({"external_user": "u", "app": "acme", "credentials": CANARY}, "credentials must be a JSON object"),
        ({"external_user": "u", "app": "acme", "credentials": {"key": [CANARY]}}, "credentials must be a JSON object"),
        ("[" * 100_000, "It is no JSON object."),
        (f'"{CANARY}"', "It is no JSON object."),
    ],
)  # fmt: skip
def test_a_broken_row_says_why_and_ends_nothing(members: object, sentence: str) -> None:
    good = {"external_user": "v", "app": "acme"}
    broken, after = of_json(members, good)
    assert sentence in (broken.problem or "") and CANARY not in (broken.problem or "")
    assert (after.external_user, after.problem, after.line) == ("v", None, 2)


def test_a_broken_line_of_csv_ends_nothing() -> None:
    text = f'external_user,app\nu,acme,{CANARY}\n\n"u"x,acme\nv,acme\n'
    problems = [(row.line, row.problem) for row in of_csv(text)]
    assert problems == [
        (2, "It has more values than the first line has columns."),
        (4, "It is no line of CSV: look at its quotes."),
        (5, None),
    ]
