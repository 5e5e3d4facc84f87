"""Counts how well components explain their props: whether a person can find each id that is asked for, and whether each
label that does not speak for itself has a description.

An id can be found if it can be chosen, or if its description says where it is found or how it is known. A label speaks
for itself if there are choices to it, or if it is one of the everyday words in :data:`PLAIN`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from webapp.service.catalog.component_files import Component

# Props that no person fills in: accounts, texts of the component, and what the service provides.
_NOT_ASKED = ("app", "alert", "dir", "data_store", "$.service.db", "$.interface.timer", "$.interface.http")
_APP_HOOK = "$.interface.apphook"
_ID = re.compile(r"(^|_)ids?$|[a-z](Ids?|ID)$")
_FOUND = re.compile(
    r"\b(address|begins?|from|gives?|known?|knows|link|lists?|names it|of your own|page|shown?|shows|stands?|such as"
    r"|under|which|your own)\b",
    re.IGNORECASE,
)
_PLAIN = """
    address, amount, archived, at most, blind copy to, city, code, column, comment, commit message, company, content,
    copy to, country, department, description, document, done, draft, e-mail, e-mail address, e-mail addresses, e-mails,
    excerpt, favorite, file, file name, first name, headline, html, ip address, ip addresses, job title, labels,
    last name, link, location, message, name, name contains, name or e-mail address, new name, note, notes, phone,
    phone number, phone numbers, preview text, private, prompt, quantity, question, reason, reply to, rows at most,
    search, search for, seconds, sku, starred, subject, tag, tags, task, text, texts, title, title contains,
    tokens at most, topic, user name, website, words
"""
PLAIN = frozenset(label.strip() for label in _PLAIN.split(","))


@dataclass(frozen=True, slots=True)
class Explanations:
    """How many ids the props ask for, and how many of them can be found; how many labels do not speak for themselves,
    and how many of them have a description. ``gaps`` are the others, as ``path: prop: sentence``."""

    ids: int
    ids_found: int
    unclear: int
    described: int
    gaps: tuple[str, ...]


def counted(facts: Iterable[tuple[Component, Mapping[str, Any]]]) -> Explanations:
    """The counts of the declarations ``facts``."""
    props = [(component.path, prop) for component, each in facts for prop in _asked(each)]
    ids = [(path, prop) for path, prop in props if _ID.search(prop["name"])]
    unclear = [(path, prop) for path, prop in props if not _is_plain(prop)]
    lost = [(path, prop) for path, prop in ids if not _can_be_found(prop)]
    bare = [(path, prop) for path, prop in unclear if not prop.get("description")]
    gaps = [f"{path}: {prop['name']}: nothing says where this id is found." for path, prop in lost]
    gaps += [f"{path}: {prop['name']}: “{_label(prop)}” needs a description." for path, prop in bare]
    return Explanations(len(ids), len(ids) - len(lost), len(unclear), len(unclear) - len(bare), tuple(gaps))


def _asked(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (prop for prop in facts["configurable_props"] if prop["type"] not in (*_NOT_ASKED, _APP_HOOK))


def _has_choices(prop: Mapping[str, Any]) -> bool:
    return bool(prop.get("remoteOptions") or prop.get("options"))


def _can_be_found(prop: Mapping[str, Any]) -> bool:
    return _has_choices(prop) or _FOUND.search(prop.get("description") or "") is not None


def _is_plain(prop: Mapping[str, Any]) -> bool:
    return _has_choices(prop) or _label(prop).casefold() in PLAIN


def _label(prop: Mapping[str, Any]) -> str:
    return str(prop.get("label") or prop["name"])
