"""Files of accounts that come from another service: CSV, or a JSON object a line (imports "The file").

A file is read row by row, so that its size does not matter. A row that cannot be read is a row with a problem and ends
nothing; an unknown column of CSV ends everything, since each of its values would be lost. What a row says about apps,
clients and fields is judged by :mod:`account_imports`. No problem repeats a value of the file.
"""

import csv
import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, Any, Literal

from webapp.errors import Invalid
from webapp.kit.clock import SECOND, iso, parse_iso

Format = Literal["csv", "jsonl"]
FORMATS: Mapping[str, Format] = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
COLUMNS = (
    "external_user", "app", "id", "name", "oauth_client", "access_token", "refresh_token", "expires_at", "scopes",
    "credentials",
)  # fmt: skip
REQUIRED = ("external_user", "app")
MAX_VALUE, MAX_FIELDS, MAX_SCOPES = 20_000, 100, 500
_LONGEST_VALUE = 1_000_000
_TEXTS = tuple(name for name in COLUMNS if name not in ("expires_at", "scopes", "credentials"))


@dataclass(frozen=True, slots=True)
class Row:
    """One account of a file. ``line`` is the line on which it ends; ``problem`` says why it cannot be read.

    ``id`` is the other service's, ``oauth_client`` an id of ours or the provider's, ``expires_at`` epoch milliseconds.
    """

    line: int
    external_user: str = ""
    app: str = ""
    id: str = ""
    name: str = ""
    oauth_client: str = ""
    access_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: int | None = None
    scopes: tuple[str, ...] = ()
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    problem: str | None = None


def rows(file: IO[str], kind: Format) -> Iterator[Row]:
    """The rows of ``file`` in their order. Raises :class:`Invalid` for a header that is not that of such a file."""
    return _of_csv(file) if kind == "csv" else _of_json_lines(file)


def _of_csv(file: IO[str]) -> Iterator[Row]:
    csv.field_size_limit(_LONGEST_VALUE)
    reader = csv.reader(file, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise Invalid("The first line of the file is no line of CSV.") from error
    _check_header(header)
    while True:
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield Row(reader.line_num, problem="It is no line of CSV: look at its quotes.")
            continue
        if not values:
            continue
        if len(values) > len(header):
            yield Row(reader.line_num, problem="It has more values than the first line has columns.")
            continue
        yield _row(reader.line_num, dict(zip(header, values, strict=False)))


def _check_header(header: list[str]) -> None:
    if unknown := [name for name in header if name not in COLUMNS]:
        raise Invalid(f"The first line names a column that is not known: {unknown[0][:50]!r}. {_known()}")
    if twice := [name for name in COLUMNS if header.count(name) > 1]:
        raise Invalid(f"The first line names the column {twice[0]} more than once.")
    if missing := [name for name in REQUIRED if name not in header]:
        raise Invalid(f"The first line lacks the column {missing[0]}. {_known()}")


def _known() -> str:
    return f"The columns are {', '.join(COLUMNS)}."


def _of_json_lines(file: IO[str]) -> Iterator[Row]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            members = json.loads(line)
        except (ValueError, RecursionError):
            members = None
        if not isinstance(members, dict):
            yield Row(number, problem="It is no JSON object.")
        elif any(name not in COLUMNS for name in members):
            yield Row(number, problem=f"It has a member that is not known. {_known()}")
        else:
            yield _row(number, members)


def _row(line: int, members: Mapping[str, Any]) -> Row:
    texts: dict[str, str] = {}
    for name in _TEXTS:
        value = members.get(name)
        if isinstance(value, bool | float | dict | list):
            return Row(line, problem=f"{name} must be a string.")
        texts[name] = "" if value is None else str(value).strip()
    named = Row(line, texts["external_user"], texts["app"], texts["id"])
    try:
        _check_texts(texts)
        return replace(
            named,
            name=texts["name"],
            oauth_client=texts["oauth_client"],
            access_token=texts["access_token"],
            refresh_token=texts["refresh_token"],
            expires_at=_time(members.get("expires_at")),
            scopes=_scopes(members.get("scopes")),
            credentials=_credentials(members.get("credentials")),
        )
    except Invalid as error:
        shown = named if all(map(_is_text, (named.external_user, named.app, named.id))) else Row(line)
        return replace(shown, problem=error.message)


def _check_texts(texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        if len(text) > MAX_VALUE:
            raise Invalid(f"{name} is longer than {MAX_VALUE:,} characters.")
        if not _is_text(text):
            raise Invalid(f"{name} contains control characters, or is not UTF-8.")
    for name in REQUIRED:
        if not texts[name]:
            raise Invalid(f"{name} is missing.")
    for name in ("access_token", "refresh_token"):
        if not (texts[name].isascii() and " " not in texts[name]):
            raise Invalid(f"{name} contains characters that no token has (RFC 6749 appendix A).")


def _is_text(text: str) -> bool:
    return not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)


def _time(value: Any) -> int | None:
    """Epoch seconds, or ISO 8601 with an offset, as epoch milliseconds."""
    if value in (None, ""):
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ValueError
        text = str(value).strip()
        at = int(text) * SECOND if text.isdecimal() else parse_iso(text)
        iso(at)  # what no calendar has is refused here
    except (ValueError, OverflowError, OSError) as error:
        message = "expires_at must be a time such as 2027-01-31T12:00:00Z, or seconds since 1970."
        raise Invalid(message) from error
    return at


def _scopes(value: Any) -> tuple[str, ...]:
    names = value if isinstance(value, list) else (value or "")
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    if not isinstance(names, list) or not all(isinstance(name, str) and _is_text(name) for name in names):
        raise Invalid("scopes must be names with spaces or commas between them, or a list of names.")
    if len(names) > MAX_SCOPES or any(len(name) > MAX_VALUE for name in names):
        raise Invalid(f"scopes must be at most {MAX_SCOPES} names.")
    return tuple(dict.fromkeys(names))


def _credentials(value: Any) -> dict[str, str]:
    wrong = Invalid('credentials must be a JSON object of strings, such as {"api_key": "…"}.')
    if value in (None, ""):
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise wrong from error
    if not isinstance(value, dict) or len(value) > MAX_FIELDS:
        raise wrong
    if not all(isinstance(text, str | int) and not isinstance(text, bool) for text in value.values()):
        raise wrong
    return {name: str(text) for name, text in value.items()}
