"""Regular expressions of authors, matched against untrusted text in the service's own process.

Matching time is bounded: the text may not be long, and no repeat may contain another.
"""

import functools
import re
from dataclasses import dataclass

LONGEST = 1_000
_TOKEN = re.compile(
    r"""\\. | \[\^?\]?(?:\\.|[^\]\\])*\]
        | (?P<open>\((?:\?(?:P<\w+>|P=|<?[=!]|[a-zA-Z-]*:|>|\#)?)?) | (?P<close>\)) | (?P<choice>\|)
        | (?P<repeat>(?:[*+?]|\{\d*,\d*\})[?+]?) | (?P<exact>\{\d+\}) | .""",
    re.DOTALL | re.VERBOSE,
)
_ONCE = ("?", "??", "?+")


@dataclass(frozen=True)
class Pattern:
    """An expression for which :func:`problem` found nothing."""

    text: str

    def fullmatch(self, text: str) -> bool:
        """Whether all of ``text`` matches; a text longer than :data:`LONGEST` never does."""
        return len(text) <= LONGEST and self._compiled.fullmatch(text) is not None

    @functools.cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.text)


def check(pattern: str | None, advice: str) -> None:
    """Raise ``ValueError`` for an invalid pattern, or if only one of the two is given."""
    if (pattern is None) != (not advice):
        raise ValueError("pattern and advice belong together")
    if pattern is not None and (sentence := problem(pattern)):
        raise ValueError(sentence)


def problem(text: str) -> str | None:
    """The problem of an expression as a sentence for its author, or None."""
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        return f"pattern is no regular expression ({error})"
    if _repeats_within_repeats(text):
        return "pattern repeats a group that holds a repeat or a choice, which can take forever"
    return None


def _repeats_within_repeats(text: str) -> bool:
    groups = [False]  # of each group that is open: whether it holds a repeat or a choice
    ended = False  # the same of the group that has just ended
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "close":
            ended = groups.pop()
            groups[-1] = groups[-1] or ended
            continue
        if ended and kind in ("repeat", "exact") and token[0] not in _ONCE:
            return True
        if kind == "open":
            groups.append(False)
        elif kind in ("repeat", "choice"):
            groups[-1] = True
        ended = False
    return False
