"""Finds the actions that do what a sentence asks for ("what is on my calendar tomorrow"), the likeliest first.

A catalog may have a hundred thousand actions, most of them imported from the descriptions of providers, so a search has
two steps. Full-text search (SQLite's FTS5, bm25) takes a few candidates by the rarest words of the sentence: one group
among the actions that are ours or the operator's own, and one among those that were imported. Then each candidate is
scored: how much of the sentence it answers, how much of its name the sentence names, and whether its app is connected.

Words are compared by their stems. What people say for what actions are called ("meeting" for "event", "throw away" for
"delete") is data in ``said.toml``. How much a word weighs follows from the number of apps that use it in a name, not
from the number of actions, so that one large API does not make its own words common.
"""

import functools
import json
import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import orjson
from sqlite_utils import Database

from webapp.kit.text import fold
from webapp.service.catalog.component_keys import OWN
from webapp.service.catalog.tables import insert

Read = Callable[[str, Mapping[str, Any]], list[Any]]
MAX_TEXT = 400
MAX_GROUPS = 12
"""So many words of a sentence count."""
CURATED_CANDIDATES, IMPORTED_CANDIDATES = 120, 60
MOST_MATCHES = 1_500
"""So many imported actions are ranked at most; words that more of them have do not choose candidates."""
MOST_COMMON = 8_000
"""So many imported actions may have a word that chooses candidates together with another."""
MAX_DESCRIBED = 240
FIELDS = ("name", "app", "others", "about")
"""The columns of words: of the name; of the app; of the key and the labels of the arguments; of the description."""
_FIELD_WEIGHTS = {"name": 1.0, "app": 1.0, "others": 0.55, "about": 0.5}
_BM25 = "8.0, 6.0, 2.0, 1.5"
_IMPORTED, _CONNECTED, _FEATURED = 0.8, 1.5, 0.04
_RECALL, _PRECISION, _VERB = 0.5, 0.3, 0.2
_HEAVIEST, _UNNAMED, _BRAND, _COMMON = 3.2, 0.6, 1.6, 1.0
"""The greatest weight of a word, that of one in descriptions only, what the name of an app adds, and the greatest
weight of a verb that may mean anything."""
FIRST_WORDS = 5
"""The verb is among so many."""
FEW_APPS = 3
_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)|https?://\S+")
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset(("a", "an", "the"))
_VOWEL = re.compile("[aeiouy]")


class App(Protocol):
    """What is read of an app."""

    @property
    def slug(self) -> str:
        """Its slug."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def featured_weight(self) -> int:
        """How much it is featured, at most 1,000."""


Answers = Mapping[str, float]
"""Stems in the words of actions, each with how well it answers."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What ``said.toml`` says, by stem or by pair of stems.

    ``nothing`` are words that choose no action, ``common`` verbs that may mean anything, and ``orders`` the verbs that
    a sentence without one means.
    """

    nothing: frozenset[str]
    common: frozenset[str]
    orders: Answers
    nouns: Mapping[str, Answers]
    verbs: Mapping[str, Answers]


class Group(NamedTuple):
    """A word of a sentence: what actions may call it, each with what it is worth, and the greatest worth."""

    answers: Mapping[str, float]
    weight: float


@functools.lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem of a folded English word, by its endings: "lists", "listed" and "listing" become "list"."""
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") or word.endswith("ied"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            is_doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            word = rest[:-1] if is_doubled else rest
            break
    return word[:-1] if len(word) >= 4 and word.endswith("e") else word


def stems(text: str) -> list[str]:
    """The stems of the words in ``text``."""
    return [stem(word) for word in _WORD.findall(fold(text))]


def _both(text: str) -> list[str]:
    """The folded words of ``text``; of ``camelCase``, its parts too."""
    parts = _BOUNDARY.sub(" ", text)
    return _WORD.findall(fold(text if parts == text else f"{text} {parts}"))


@functools.cache
def _said() -> _Said:
    content = tomllib.loads((Path(__file__).parent / "said.toml").read_text(encoding="utf-8"))
    meant: dict[str, dict[str, dict[str, float]]] = {}
    for part, weight in content["weights"].items():
        for word, answers in content[part].items():
            known = meant.setdefault(part, {}).setdefault(" ".join(stems(word)), {})
            for place, answer in enumerate(answers):
                for each in stems(answer):
                    known.setdefault(each, weight - 0.05 * min(place, 4))
    return _Said(
        nothing=frozenset(content["nothing"]),
        common=frozenset(stem(word) for word in content["common"]),
        orders={stem(word): 0.7 for word in content["orders"]},
        nouns=meant["nouns"],
        verbs=meant["verbs"] | meant["questions"],
    )


# --- writing ---


def create_tables(database: Database) -> None:
    """Create the tables of the search in an empty catalog."""
    columns = {"id": int, "key": str, "app": str, "far": int, "imported": int, "featured": float}
    tools = database.table("tools").create({**columns, **{f"{name}_words": str for name in FIELDS}}, pk="id")
    tools.create_index(["app"])
    database.table("tool_terms").create({"term": str, "weight": float, "actions": int}, pk="term")


def write(database: Database, actions: Iterable[Mapping[str, Any]], apps: Mapping[str, App]) -> None:
    """Write the words of ``actions``, rows of components in their highest versions; those that are far come last."""
    ordered = sorted(actions, key=lambda row: (_is_far(row), row["key"]))
    named, counted = defaultdict[str, set[str | None]](set), Counter[str]()
    brands, common = set[str](), set[str]()

    def rows() -> Iterator[dict[str, Any]]:
        for number, action in enumerate(ordered, 1):
            fields = _words(action, apps.get(action["app"]))
            for term in {*fields["name"], *fields["app"]}:
                named[term].add(action["app"])
            if not _is_far(action):
                brands.update(fields["app"])
            for term in fields["name"]:
                if term not in fields["app"]:
                    common.add(term)
            counted.update({term for words in fields.values() for term in words})
            app = apps.get(action["app"])
            yield {
                "id": number,
                "key": action["key"],
                "app": action["app"],
                "far": int(_is_far(action)),
                "imported": int(is_imported(action)),
                "featured": min(1.0, app.featured_weight / 1000) if app else 0.0,
                **{f"{name}_words": " ".join(words) for name, words in fields.items()},
            }

    tools = database.table("tools")
    insert(database, "tools", rows())
    every = len({row["app"] for row in ordered})

    def weight(term: str) -> float:
        if not (count := len(named.get(term, ()))):
            return _UNNAMED
        is_brand = count <= FEW_APPS and term in brands and term not in common
        return min(_HEAVIEST, math.log(1 + every / (count + 1))) + (_BRAND if is_brand else 0.0)

    insert(
        database,
        "tool_terms",
        ({"term": term, "weight": weight(term), "actions": count} for term, count in sorted(counted.items())),
    )
    tools.enable_fts([f"{name}_words" for name in FIELDS], tokenize="unicode61")  # each word is its stem already
    tools.optimize()


def is_imported(row: Mapping[str, Any]) -> bool:
    """Whether the action in ``row`` is an operation of an app's whole API, which no person has written."""
    return bool(row.get("tag"))


def _is_far(row: Mapping[str, Any]) -> bool:
    """Whether the action in ``row`` is neither ours nor the operator's own: there may be a hundred thousand."""
    return is_imported(row) or (row["root"] is not None and not row["key"].startswith(OWN))


def _words(action: Mapping[str, Any], app: App | None) -> dict[str, list[str]]:
    """The stems of an action, each once, by column."""
    props = orjson.loads(action["configurable_props"])
    labels = [prop.get("label") or prop["name"] for prop in props if prop["type"] != "app" and not prop.get("hidden")]
    texts = {
        "name": action["name"],
        "app": f"{app.name} {app.slug}" if app else "",
        "others": f"{action['key'].split('-', 1)[-1]} {' '.join(labels)}",
        "about": _LINK.sub(" ", action["description"])[:MAX_DESCRIBED],
    }
    nothing = _said().nothing
    return {
        name: list(dict.fromkeys(stem(word) for word in _both(text) if word not in nothing))
        for name, text in texts.items()
    }


# --- reading ---


class Order(NamedTuple):
    """What a sentence orders: where its verb stands, and the verbs of actions, each with how well it fits."""

    places: Collection[int]
    verbs: Answers


class _Among(NamedTuple):
    """The apps whose actions are searched: ``only`` those, unless there are none, and never those in ``without``."""

    only: frozenset[str]
    without: frozenset[str]


class ToolSearch:
    """Search among the actions of one catalog, which ``read`` queries."""

    def __init__(self, read: Read, hidden: Collection[str] = (), unlisted: Collection[str] = ()) -> None:
        """``read`` queries the catalog. Actions of the apps ``hidden`` and with the keys ``unlisted`` are not found."""
        self._read, self._hidden, self._unlisted = read, frozenset(hidden), unlisted
        self._weights: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    @functools.cached_property
    def _last(self) -> int:
        """The last of the actions that are ours or the operator's own."""
        ((last,),) = self._read("SELECT coalesce(max(id), 0) FROM tools WHERE NOT far", {})
        return int(last)

    def find(
        self,
        sentence: str,
        *,
        connected: Collection[str] = (),
        only: Collection[str] = (),
        without: Collection[str] = (),
        limit: int = 50,
    ) -> list[str]:
        """The keys of the actions for ``sentence``, the likeliest first.

        Those of the apps ``connected`` are preferred to others that answer the sentence as well. ``only``, unless it is
        empty, and ``without`` choose the apps.
        """
        spoken = _spoken(sentence)
        order = _order(spoken)
        groups = self._groups(spoken, order) or self._literal(spoken)
        if not groups:
            return []
        among = _Among(frozenset(only), self._hidden | frozenset(without))
        rows = [row for row in self._candidates(groups, among) if row["key"] not in self._unlisted]
        self._learn({term for row in rows for term in row["name_words"].split()})
        scored = sorted((-self._score(row, groups, order.verbs, connected), row["key"]) for row in rows)
        return [key for _, key in scored[:limit]]

    def _literal(self, spoken: Sequence[str]) -> list[Group]:
        """Groups for a sentence of words that choose nothing by themselves, such as "all"."""
        words = {stem(word) for word in spoken}
        self._learn(words)
        return [Group({word: weight}, weight) for word in sorted(words) if (weight := self._weights.get(word))]

    def _groups(self, spoken: Sequence[str], order: Order) -> list[Group]:
        """The words of a sentence that may choose an action."""
        phrases = _said()
        words = [stem(word) for word in spoken]
        meanings = list[tuple[str | None, Answers]]()
        taken = set[int]()
        for place, pair in enumerate(pairwise(words)):
            if meant := phrases.nouns.get(" ".join(pair)):
                meanings.append((None, meant))
                taken |= {place, place + 1}
        for place, word in enumerate(words):
            is_verb = place in order.places
            own = None if spoken[place] in phrases.nothing else word
            meant = {} if place in taken else phrases.nouns.get(word, {})
            well = _own(word, is_verb=is_verb, is_also=bool(place in taken or (is_verb and meant)))
            verbs = order.verbs if is_verb else {} if word in phrases.nouns else phrases.verbs.get(word, {})
            meanings.append((own, {**verbs, **meant, **({own: well} if own else {})}))
        self._learn({term for _, answers in meanings for term in answers})
        weighed = {tuple(each.items()): each for own, answers in meanings if (each := self._weighed(own, answers))}
        groups = [Group(each, max(each.values())) for each in weighed.values()]
        return sorted(groups, key=lambda group: -group.weight)[:MAX_GROUPS]

    def _weighed(self, own: str | None, answers: Answers) -> dict[str, float]:
        """The ``answers`` that the catalog knows, each with what it is worth: no more than the word ``own``."""
        most = self._weights.get(own, 0.0) if own else 0.0
        if own in _said().common:
            most = min(most, _COMMON)
        elif most <= _UNNAMED:
            most = _HEAVIEST
        return {term: well * min(weight, most) for term, well in answers.items() if (weight := self._weights.get(term))}

    def _learn(self, wanted: Collection[str]) -> None:
        """Read the weights of terms that are not remembered yet. Terms that are in no action have none."""
        if unknown := [term for term in wanted if term not in self._weights]:
            rows = self._read(
                "SELECT * FROM tool_terms WHERE term IN (SELECT value FROM json_each(:wanted))",
                {"wanted": json.dumps(unknown)},
            )
            for row in rows:
                self._weights[row["term"]] = row["weight"]
                self._counts[row["term"]] = row["actions"]

    def _candidates(self, groups: Sequence[Group], among: _Among) -> list[Any]:
        last = self._last
        every = _any(term for group in groups for term in group.answers)
        candidates = self._matching(every, among, (0, last), CURATED_CANDIDATES)
        for match in self._narrow(groups):
            candidates += self._matching(match, among, (last, 2**62), IMPORTED_CANDIDATES)
        return list({row["id"]: row for row in candidates}.values())

    def _narrow(self, groups: Sequence[Group]) -> Iterator[str]:
        """The query for imported actions: those with one of the rarest words, or if the words that matter most are
        common, those with several of them."""
        counts, room = self._counts, MOST_MATCHES
        rare = set[str]()
        for term in sorted({term for group in groups for term in group.answers}, key=counts.__getitem__):
            if (room := room - counts[term]) < 0:
                break
            rare.add(term)
        if rare:
            yield _any(sorted(rare))
        if any(rare & group.answers.keys() for group in groups[:2]):
            return
        best = [max(group.answers, key=group.answers.__getitem__) for group in groups]
        common = [term for term in dict.fromkeys(best) if counts[term] <= MOST_COMMON and term not in rare]
        if len(common) > 1:
            yield " AND ".join(f'"{term}"' for term in common[:3])

    def _matching(self, match: str, among: _Among, between: tuple[int, int], limit: int) -> list[Any]:
        apps = " AND app IN (SELECT value FROM json_each(:only))" if among.only else ""
        if among.without:
            apps += " AND coalesce(app, '') NOT IN (SELECT value FROM json_each(:without))"
        return self._read(
            "SELECT tools.* FROM tools_fts JOIN tools ON tools.id = tools_fts.rowid WHERE tools_fts MATCH :match "  # noqa: S608
            f"AND tools_fts.rowid > :low AND tools_fts.rowid <= :high{apps} "
            f"ORDER BY bm25(tools_fts, {_BM25}) LIMIT :limit",
            {
                "match": match,
                "only": json.dumps(sorted(among.only)),
                "without": json.dumps(sorted(among.without)),
                "low": between[0],
                "high": between[1],
                "limit": limit,
            },
        )

    def _score(
        self, row: Any, groups: Sequence[Group], order: Mapping[str, float], connected: Collection[str]
    ) -> float:
        wanted = {term for group in groups for term in group.answers}
        where = dict[str, float]()
        for name in reversed(FIELDS):  # the greatest weights come last
            where |= dict.fromkeys(wanted.intersection(row[f"{name}_words"].split()), _FIELD_WEIGHTS[name])
        answered = sum(
            max((group.answers[term] * weight for term, weight in where.items() if term in group.answers), default=0.0)
            for group in groups
        )
        recall = answered / sum(group.weight for group in groups)
        names = row["name_words"].split()
        shared = sum(self._weights[term] for term in names if term in wanted)
        precision = shared / (sum(self._weights[term] for term in names) or 1)
        fits = max((order.get(term, 0.0) for term in names[:1]), default=0.0)
        score: float = recall * (_RECALL + _PRECISION * precision + _VERB * fits)
        score *= _IMPORTED if row["imported"] else 1.0
        score *= _CONNECTED if row["app"] in connected else 1.0
        return score + _FEATURED * float(row["featured"]) * recall


def _spoken(sentence: str) -> list[str]:
    """The folded words of ``sentence`` without articles."""
    return [word for word in _WORD.findall(fold(sentence[:MAX_TEXT])) if word not in _ARTICLES]


def _order(spoken: Sequence[str]) -> Order:
    """The verb of a sentence: the first, or the first pair, that ``said.toml`` knows."""
    phrases, words = _said(), [stem(word) for word in spoken][:FIRST_WORDS]
    for place, word in enumerate(words):
        pair = " ".join(words[place : place + 2])
        if pair != word and pair in phrases.verbs:
            return Order({place, place + 1}, {word: 0.6, **phrases.verbs[pair]})
        if word in phrases.verbs:
            return Order({place}, {**phrases.verbs[word], word: 1.0})
    return Order((), phrases.orders)


def _own(word: str, *, is_verb: bool, is_also: bool) -> float:
    """How well a word answers itself: a verb of few actions tells most, one that ``is_also`` a thing less."""
    return 0.8 if is_also else 1.4 if is_verb and word not in _said().common else 1.0


def _any(terms: Iterable[str]) -> str:
    """An FTS5 query for any of ``terms``, which have only letters and digits."""
    return " OR ".join(f'"{term}"' for term in dict.fromkeys(terms))
