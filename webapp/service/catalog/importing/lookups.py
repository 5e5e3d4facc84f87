"""The look-ups of an app's own props, for operations of its whole API that ask for the same thing.

An app's own components say which of their props have choices to look up, and where the values of these props stand in
requests. A parameter of an operation means the same thing if it stands at the same place of the same path
(``/repos/{owner}/{repo}``), or if it is a parameter of the same path with the same name, or if it has the name, type
and place of one of these and that name says what the prop is (``calendarId`` and ``calendar_id``). Nothing else gets
choices, and no value is filled in. Where one prop of the app's own stands for several parameters of a path, as
``owner/name`` does, the operation asks for that one instead. What the choices depend on is asked for as well, if the
operation does not: such a prop is optional and never sent.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Self

from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.actions import Action
from webapp.service.components.declared import source
from webapp.service.components.declared.templates import Hole, TemplateMistake, parse, texts_in
from webapp.service.components.errors import LoadError

NOT_SENT = "Only narrows the choices of other fields; it is not sent."
_ENDS = ("id", "ids", "gid", "key", "slug", "number", "name", "sid", "uuid")  # of names: they do not say of what
_JOINED_FIELDS = ("type", "label", "description", "pattern", "advice", "use_query")
_MOST_NEEDED = 3
_SHORTEST = 3
_HOLE = re.compile(r"\{[^{}/]+\}")
_ONE = r"(\{\+?[^{}/]+\})"
_SEVERAL = r"(\{\+?[^{}/]+\}(?:/\{\+?[^{}/]+\})*)"
_LITERAL = re.compile(r"[A-Za-z]{2,}")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*")
_IN_HOLE = re.compile(r"""'[^']*'|"[^"]*"|\.[\w$@:-]+|\|\s*\w+|(?P<name>[A-Za-z_]\w*)""")
_TEMPLATE_HOLE = re.compile(r"""\{\{|\}\}|\{(?:[^{}'"]|'[^']*'|"[^"]*")*\}""")
_PARTS = ("params", "form", "json")  # of a request, which hold its fields
_Place = tuple[str, tuple[str, ...]]
"""Where parameters stand, and their names: the path before them, or a part of the request."""
Draft = Callable[[], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Known:
    """A prop of the app's own that has choices to look up. ``needs`` are those that the choices depend on.

    Two are the same if their choices are.
    """

    name: str = field(compare=False)
    fields: Mapping[str, Any] = field(compare=False, repr=False)
    needs: tuple["Known", ...] = field(compare=False)
    identity: str = field(repr=False)

    @classmethod
    def of(cls, name: str, props: Mapping[str, Any], within: tuple[str, ...] = ()) -> Self | None:
        """The prop ``name`` among the ``props`` of a component; None if it has no choices that can be looked up by
        other such props only."""
        fields = props.get(name)
        options = fields.get("options") if isinstance(fields, Mapping) else None
        if not isinstance(options, Mapping) or name in within or len(within) >= _MOST_NEEDED:
            return None
        needs = []
        for root in _roots(options):
            needed = cls.of(root, props, (*within, name))
            if needed is None:
                return None
            needs.append(needed)
        known = dict(fields or {})
        identity = json.dumps([known.get("type"), options, [each.identity for each in needs]], sort_keys=True)
        return cls(name, known, tuple(needs), identity)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request of the app's own: its method, an expression for its path, whose groups are props, and the fields of
    the query and the body that are props, by their names."""

    method: str
    path: re.Pattern[str]
    holes: tuple[Known | None, ...]
    fields: Mapping[str, Known]


@dataclass(frozen=True, slots=True)
class Own:
    """What an app has of its own: the ``files`` of its declared components, and its address, ``base``.

    ``equals`` are paths of the document by those that the components use for the same things.
    """

    files: Sequence[Path]
    base: str
    equals: Mapping[str, str] = field(default_factory=dict)

    def path(self, url: str) -> str:
        """``url`` as a path of the document, or as a whole address where it is not below that of the app."""
        base = self.base.rstrip("/")
        path = url[len(base) :] if base and url.startswith(f"{base}/") else url
        for known, same in self.equals.items():
            if path.startswith(f"{known}/"):
                return f"{same}{path.removeprefix(known)}"
        return path


class Lookups:
    """What is known of an app's own props.

    ``drafts`` are the operations of the document by method and path, which is the whole address of one that is not
    below that of the app; each gives what its props stand for.
    """

    def __init__(self, own: Own, drafts: Mapping[tuple[str, str], Draft]) -> None:
        self._asked = [each for file in own.files for each in _asked(file, own)]
        self._methods = Counter(path for _, path in drafts)
        places: dict[_Place, Counter[Known]] = {}
        names: dict[_Place, Counter[Known]] = {}
        for (method, path), draft in drafts.items() if self._asked else ():
            for start, holes, known in self._in_path(path):
                places.setdefault((_prefix(path[:start]), holes), Counter())[known] += 1
                names.setdefault(("path", holes), Counter())[known] += 1
            fields = self._fields(method, path)
            for meaning in draft() if fields else ():
                place, name = _place(meaning)
                if place != "path" and name in fields:
                    names.setdefault((place, (name,)), Counter())[fields[name]] += 1
        self._places = {place: _first(counted) for place, counted in places.items()}
        self._names = {
            place: known
            for place, counted in names.items()
            if len(counted) == 1 and _says(place[1], known := _first(counted))
        }

    def offered(self, action: Action, path: str) -> Action:
        """``action`` with choices where they are known. ``path`` is that of its operation, with its address."""
        props = {name: dict(fields) for name, fields in action.toml["props"].items()}
        joined, meanings = self._joined(action, path, props), self._meanings(action, path, props)
        if not meanings and not joined:
            return action
        writer = _Writer(props, meanings)
        request = dict(action.toml["request"])
        for names, known in joined.items():
            writer.join(request, names, known)
        for name, known in meanings.items():
            writer.offer(name, known)
        return replace(action, toml={**action.toml, "props": writer.props, "request": request})

    def _joined(self, action: Action, path: str, props: Mapping[str, Any]) -> dict[tuple[str, ...], Known]:
        """The props that stand for parameters of the path which are one thing together."""
        joined: dict[tuple[str, ...], Known] = {}
        for start, holes in _holes(path):
            names = tuple(action.props.get(f"path:{hole}", "") for hole in holes)
            known = self._in_place(path[:start], holes) if len(holes) > 1 else None
            if known and all(props.get(name, {}).get("type") == known.fields.get("type") for name in names):
                joined[names] = known
        return joined

    def _meanings(self, action: Action, path: str, props: Mapping[str, Any]) -> dict[str, Known]:
        """What props mean, by their names."""
        meanings: dict[str, Known | None] = {}
        for start, holes in _holes(path):
            if len(holes) == 1:
                meanings[action.props.get(f"path:{holes[0]}", "")] = self._in_place(path[:start], holes)
        fields = self._fields(action.operation.method, path)
        for meaning, prop in action.props.items():
            place, name = _place(meaning)
            if place != "path":
                meanings[prop] = fields.get(name) or self._named(place, (name,))
        return {name: known for name, known in meanings.items() if known and _is_open(props.get(name, {}), known)}

    def _in_place(self, before: str, holes: tuple[str, ...]) -> Known | None:
        """What parameters of a path are. The name is not enough behind others, of which the thing may be a part."""
        same = self._places.get((_prefix(before), holes))
        return same or (self._named("path", holes) if len(holes) > 1 or "{" not in before else None)

    def _named(self, place: str, names: tuple[str, ...]) -> Known | None:
        """What parameters of these names are anywhere; nothing for lists, which often have plain names."""
        known = self._names.get((place, names))
        return known if known and not str(known.fields.get("type")).endswith("[]") else None

    def _in_path(self, path: str) -> Iterator[tuple[int, tuple[str, ...], Known]]:
        """The props of the app's own that stand in ``path``."""
        for each in self._asked:
            match = each.path.fullmatch(path)
            for number, known in enumerate(each.holes, 1):
                if match and known and _is_telling(path[: match.start(number)]):
                    yield match.start(number), _names_in(match[number]), known

    def _fields(self, method: str, path: str) -> dict[str, Known]:
        """The fields that the app's own components send to an operation, by their names.

        The method counts only where the path has several: an app may take the same fields by another one.
        """
        matching = (each.fields for each in self._asked if each.fields and each.path.fullmatch(path)
                    and (each.method == method or self._methods[path] == 1))  # fmt: skip
        return {name: known for fields in matching for name, known in fields.items()}


class _Writer:
    """Gives props of an operation their choices."""

    def __init__(self, props: dict[str, dict[str, Any]], meanings: Mapping[str, Known]) -> None:
        self.props = props
        self._by_identity = {known.identity: name for name, known in reversed(list(meanings.items()))}

    def join(self, request: dict[str, Any], names: Sequence[str], known: Known) -> None:
        """Ask for one prop in place of those of a path that it stands for."""
        name = self._free(known.name, names)
        fields = {key: known.fields[key] for key in _JOINED_FIELDS if key in known.fields}
        self._by_identity.setdefault(known.identity, name)
        kept = {each: value for each, value in self.props.items() if each not in names}
        first = [each for each, value in kept.items() if value.get("type") == "app"]
        self.props = {
            **{each: kept[each] for each in first},
            name: {**fields, "options": self._options(known)},
            **{each: value for each, value in kept.items() if each not in first},
        }
        before = "/".join(f"{{{each}}}" for each in names)
        request["url"] = request["url"].replace(before, f"{{{name}|path}}")

    def offer(self, name: str, known: Known) -> None:
        """Let the choices of ``known`` be those of the prop ``name``."""
        more = {"use_query": True} if known.fields.get("use_query") else {}
        options = self._options(known)
        self.props[name] = {**self.props[name], **more, "options": options}

    def _options(self, known: Known) -> Any:
        names = {need.name: self._needed(need) for need in known.needs}
        return renamed(known.fields["options"], names)

    def _needed(self, need: Known) -> str:
        """The prop that ``need`` is here; one that is not sent, if there is none."""
        if need.identity in self._by_identity:
            return self._by_identity[need.identity]
        name = self._free(need.name, ())
        self._by_identity[need.identity] = name
        options = self._options(need)
        fields = {key: need.fields[key] for key in ("type", "label", "use_query") if key in need.fields}
        helper = {**fields, "description": NOT_SENT, "optional": True, "options": options}
        own = [each for each, value in self.props.items() if value.get("type") == "app"]
        rest = {each: value for each, value in self.props.items() if each not in own}
        helpers = {each: value for each, value in rest.items() if value.get("description") == NOT_SENT}
        others = {each: value for each, value in rest.items() if each not in helpers}
        self.props = {**{each: self.props[each] for each in own}, **helpers, name: helper, **others}
        return name

    def _free(self, wanted: str, given_up: Sequence[str]) -> str:
        taken = self.props.keys() - set(given_up)
        return words.Names({}, tuple(taken)).name("", wanted, "")


def errors(files: Iterable[Path]) -> Mapping[str, Any]:
    """How the app reports errors, as its own components say it; nothing if they do not."""
    for folder in dict.fromkeys(source.app_folder(file) for file in files):
        if shared := source.shared_errors(folder):
            return shared
    return {}


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """``value``, JSON whose texts are templates, with other names of props."""
    if isinstance(value, str):
        return _TEMPLATE_HOLE.sub(lambda hole: _in_hole(hole[0], names), value)
    if isinstance(value, Mapping):
        return {key: renamed(member, names) for key, member in value.items()}
    return [renamed(item, names) for item in value] if isinstance(value, list) else value


def _in_hole(hole: str, names: Mapping[str, str]) -> str:
    def other(match: re.Match[str]) -> str:
        name = match[0]
        is_prop = match["name"] is not None and hole[match.start() - 1] != "$"
        return names.get(name, name) if is_prop else name

    return hole if hole in ("{{", "}}") else _IN_HOLE.sub(other, hole)


def _asked(file: Path, own: Own) -> Iterator[_Asked]:
    """Where the component in ``file`` sends its props; nothing for one that cannot be read."""
    try:
        fields = source.read(file).fields
        props = fields.get("props", {})
        known = {name: Known.of(name, props) for name in props}
        for request in _requests(fields):
            yield from _of_request(request, {name: each for name, each in known.items() if each}, own)
    except (LoadError, TemplateMistake, AttributeError):
        return


def _requests(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Its requests, and those for the choices of its props."""
    listed = [fields.get("request"), fields.get("poll"), *fields.get("steps", ())]
    listed += [prop.get("options") for prop in fields.get("props", {}).values() if isinstance(prop, Mapping)]
    yield from (each for each in listed if isinstance(each, Mapping) and "url" in each)


def _of_request(request: Mapping[str, Any], known: Mapping[str, Known], own: Own) -> Iterator[_Asked]:
    urls = request["url"] if isinstance(request["url"], list) else [request["url"]]
    fields = {name: each for part in _PARTS for name, each in _sent(request.get(part), known)}
    for url in urls:
        path, holes = _expression(own.path(url), known)
        if any(holes) or fields:
            yield _Asked(request.get("method", "GET"), path, holes, fields)


def _expression(url: str, known: Mapping[str, Known]) -> tuple[re.Pattern[str], tuple[Known | None, ...]]:
    """What fits paths that mean the same as ``url``, and which props its groups are."""
    pieces, holes = [], list[Known | None]()
    for part in parse(url).parts:
        if isinstance(part, str):
            pieces.append(re.escape(part))
            continue
        filters = [name for name, _ in part.filters]
        is_one = not part.path.steps and filters in ([], ["trim"], ["path"])
        pieces.append(_SEVERAL if filters == ["path"] else _ONE if is_one else r"([^/]*)")
        holes.append(known.get(part.path.root) if is_one else None)
    return re.compile("".join(pieces)), tuple(holes)


def _sent(template: Any, known: Mapping[str, Known], before: str = "") -> Iterator[tuple[str, Known]]:
    """The fields that hold nothing but the value of a prop."""
    for name, value in template.items() if isinstance(template, Mapping) else ():
        if isinstance(value, Mapping):
            yield from _sent(value, known, f"{before}{name}.")
        elif isinstance(value, str):
            parts = parse(value).parts
            hole = parts[0] if len(parts) == 1 else None
            if isinstance(hole, Hole) and not hole.filters and not hole.path.steps and hole.path.root in known:
                yield f"{before}{name}", known[hole.path.root]


def _roots(options: Mapping[str, Any]) -> list[str]:
    """The props that ``options`` depend on."""
    every = (root for text in texts_in(options) for root in parse(text).roots)
    return list(dict.fromkeys(root for root in every if not root.startswith("$")))


def _first(counted: Counter[Known]) -> Known:
    """What is sent there most often; among equals, what needs the least."""
    return min(counted, key=lambda each: (-counted[each], len(each.needs), each.name))


def _holes(path: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every parameter of ``path``, and those that stand beside each other."""
    holes = [(match.start(), match.end(), match[0].strip("{+}")) for match in _HOLE.finditer(path)]
    for (start, end, name), following in zip_longest(holes, holes[1:]):
        if following and following[0] == end + 1 and path[end] == "/":
            yield start, (name, following[2])
        yield start, (name,)


def _place(meaning: str) -> tuple[str, str]:
    """The part of the request that a prop is sent in, and its name there."""
    place, _, name = meaning.partition(":")
    return "body" if place == "form" else place, name


def _names_in(text: str) -> tuple[str, ...]:
    return tuple(match[0].strip("{+}") for match in _HOLE.finditer(text))


def _prefix(path: str) -> str:
    return _HOLE.sub("{}", path)


def _is_telling(prefix: str) -> bool:
    """Whether what stands before a parameter says what it is: more than a version."""
    before = prefix.rpartition("://")[2].split("/")[1:]
    return any(_LITERAL.search(part) and not _VERSION.fullmatch(part) for part in before if "{" not in part)


def _says(names: tuple[str, ...], known: Known) -> bool:
    """Whether the last of ``names`` says that it is the thing ``known``."""
    noun, own = _noun(names[-1]), _noun(known.name)
    if len(names) > 1:
        return len(noun) >= _SHORTEST and (own.startswith(noun) or noun.startswith(own))
    return bool(noun) and noun == own


def _noun(name: str) -> str:
    parts = [part.lower() for part in words.parts(name.rpartition(".")[2])]
    while parts and parts[-1] in _ENDS:
        parts.pop()
    text = "".join(parts)
    return text.removesuffix("s") if len(text) > _SHORTEST else text


def _is_open(prop: Mapping[str, Any], known: Known) -> bool:
    """Whether ``prop`` has the type of ``known``, and no choices of its own."""
    return prop.get("type") == known.fields.get("type") and "options" not in prop and not prop.get("secret")
