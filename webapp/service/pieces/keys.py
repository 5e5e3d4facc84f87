"""The names of a piece: the slug of its app, and the keys of its components."""

import re
from collections.abc import Callable, Iterable, Mapping

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST_SLUG, _LONGEST_NAME = 50, 80


def slug(package: str) -> str:
    """The slug of the app of ``package``: ``@acme/piece-google-sheets`` is ``google_sheets``."""
    name = package.rpartition("/")[2].removeprefix("piece-").lower()
    text = re.sub(r"[^a-z0-9]+", "_", name).strip("_")
    return (text if text[:1].isalpha() else f"p_{text}")[:_LONGEST_SLUG].rstrip("_") or "piece"


def free(name: str, taken: Callable[[str], bool], between: str, longest: int) -> str:
    """``name``, or ``name`` with the first number from 2 that makes it unused."""
    number, candidate = 1, name
    while taken(candidate):
        number += 1
        ending = f"{between}{number}"
        candidate = f"{name[: longest - len(ending)]}{ending}"
    return candidate


def free_slug(name: str, taken: Callable[[str], bool]) -> str:
    """An unused slug like ``name``."""
    return free(name, taken, "_", _LONGEST_SLUG)


def title(name: str, package: str, taken: Callable[[str], bool]) -> str:
    """``name`` of an app, with its origin in brackets if another app has that name."""
    names = (name, f"{name} (npm)", f"{name} ({package})")
    return next((each for each in names if not taken(each)), names[-1])


def component_name(name: str) -> str:
    """``name`` of an action or trigger as a component's, in lower case with hyphens: ``uploadFile`` is
    ``upload-file``."""
    text = "-".join(part.lower() for part in _WORD.findall(name))[:_LONGEST_NAME].strip("-")
    return text if text[:1].isalpha() else f"part-{text}".rstrip("-")


def component_names(names: Iterable[str], before: Mapping[str, str], taken: Callable[[str], bool]) -> dict[str, str]:
    """The name of each component, by the piece's ``names``: the one that it had ``before``, else a free one.

    ``taken`` says whether the app has a component of a name from another source.
    """
    given_out = dict(before)
    used = set(before.values())
    for name in names:
        if name not in given_out:
            wanted = component_name(name)
            given_out[name] = free(wanted, lambda each: each in used or taken(each), "-", _LONGEST_NAME)
            used.add(given_out[name])
    return given_out
