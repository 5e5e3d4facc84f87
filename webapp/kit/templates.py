"""Prepares Jinja environments: translation, and templates without line breaks and indentation.

:func:`prepare` adds an extension that removes, when a template is compiled, white space that browsers do not show: a
line break with its indentation becomes one space, and nothing next to a block element (``<p>``, ``<td>``) or at the
start or end of a template, macro or block. ``<pre>``, ``<textarea>``, ``<script>`` and ``<style>`` are left unchanged;
``{% trans %}`` trims line breaks. Otherwise pages are exactly what Jinja renders.
"""

import functools
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from enum import Enum, auto
from gettext import NullTranslations
from typing import Any, NamedTuple

from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Macro
from markupsafe import Markup, escape

from webapp.kit import translation

_BOXES = re.compile(
    r"""[/!]?(address|article|aside|body|d[dlt]|details|dialog|div|doctype|fieldset|figcaption|figure|footer|form|h[1-6]
    |head|header|hr|html|hx-partial|legend|li|link|main|meta|nav|ol|optgroup|option|p|pre|script|section|style|summary
    |table|tbody|td|template|tfoot|th|thead|title|tr|ul)""",
    re.VERBOSE,
)
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_DRAWINGS = 512
_VERBATIM = ("pre", "textarea", "script", "style")
_MARKUP = re.compile(r"\s*\n\s*|</?[a-z][\w-]*|<!doctype|[>\"']|(?:(?!\s*\n)[^<>\"'])+|<", re.IGNORECASE)


class _Kind(Enum):
    """How a piece of a template affects the line breaks around it."""

    BREAK = auto()
    TAG = auto()  # not at all: it is inside a tag
    TEXT = auto()  # a space before or after it is visible
    EDGE = auto()  # a space before or after it is not visible
    OPEN = auto()  # a branch begins
    ELSE = auto()
    CLOSE = auto()


class _Piece(NamedTuple):
    token: int  # its number in the stream
    kind: _Kind
    text: str = ""


_STATEMENTS = {
    "if": (_Kind.OPEN,), "elif": (_Kind.ELSE,), "else": (_Kind.ELSE,), "endif": (_Kind.CLOSE,),
    "for": (_Kind.OPEN, _Kind.TEXT), "endfor": (_Kind.TEXT, _Kind.CLOSE),  # an iteration follows another
    "call": (_Kind.TEXT, _Kind.EDGE), "endcall": (_Kind.EDGE, _Kind.TEXT),
    "macro": (_Kind.EDGE,), "endmacro": (_Kind.EDGE,), "block": (_Kind.EDGE,), "endblock": (_Kind.EDGE,),
    "endset": (_Kind.EDGE,), "include": (_Kind.TEXT,), "trans": (_Kind.TEXT,),
}  # fmt: skip


def prepare(environment: Any) -> None:
    """Add translation to ``environment``, and remove the layout of its templates.

    Its globals must be complete before the first template is loaded: each template gets them as a plain ``dict``, since
    importing a macro looks through all of them, which is thirty times slower in Jinja's chained mapping.
    """
    _install_words(environment)
    environment.filters |= {"strong": strong, "remembered": remembered, "translated": translation.translated}
    environment.add_extension(WithoutLayout)
    environment.make_globals = lambda own: {**environment.globals, **(own or {})}


def _install_words(environment: Any) -> None:
    """Give ``environment`` ``_()``, ``{% trans %}`` (trimmed of line breaks) and their plural."""
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(translation.gettext, translation.ngettext, newstyle=True)
    # The extension's own functions look through the whole context for each message. Ours do not: all pages are HTML.
    environment.globals.update(
        {
            "_": _in_page,
            "gettext": _in_page,
            "pgettext": _in_context,
            "ngettext": _count_in_page,
            "count_of": translation.count_of,
        }
    )


def _in_page(message: str, **variables: object) -> Markup:
    """The translation of ``message``, which is markup, with ``variables`` escaped in its ``%(name)s``."""
    text = _markup(message, translation.catalog())
    return _filled(text, variables) if variables or "%" in text else text


def _in_context(context: str, message: str) -> Markup:
    """The translation of ``message``, which is markup, as ``context`` means it."""
    return _markup(message, translation.catalog(), context)


@functools.lru_cache(maxsize=translation.MESSAGES_KEPT)
def _markup(message: str, catalog: NullTranslations, context: str = "") -> Markup:
    text = translation.unbroken(catalog.pgettext(context, message) if context else catalog.gettext(message))
    return Markup(text)  # noqa: S704  # of a template or catalog


def _count_in_page(singular: str, plural: str, num: int, **variables: object) -> Markup:
    return _filled(translation.ngettext(singular, plural, num), {"num": num, **variables})


def _filled(text: str, variables: Mapping[str, object]) -> Markup:
    """``text``, which is markup, with ``variables`` escaped in it: like ``Markup.__mod__``, at half the cost."""
    return Markup(str.__mod__(text, {name: escape(value) for name, value in variables.items()}))  # noqa: S704  # escaped


def strong(text: str) -> Markup:
    """``text``, escaped, with the parts between ``**`` and ``**`` in bold."""
    return Markup(_STRONG.sub(r"<b>\1</b>", str(escape(text))))  # noqa: S704 - escaped


def remembered(macro: Macro) -> Callable[..., str]:
    """``macro`` with a cache by language and arguments; its output must depend on nothing else."""
    drawings: dict[str, Callable[..., str]] = {}

    def draw(*args: Hashable, **kwargs: Hashable) -> str:
        language = translation.language()
        if language not in drawings:
            drawings[language] = functools.lru_cache(_DRAWINGS, typed=True)(macro)
        return drawings[language](*args, **kwargs)

    return draw


class WithoutLayout(Extension):
    """Removes line breaks and indentation from templates when they are compiled."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """The tokens of a template, with layout removed from those of type ``data``."""
        tokens = list(stream)
        pieces = list(_pieces(tokens))
        after = _at_edge(pieces[::-1], _Kind.CLOSE, _Kind.OPEN, [False] * len(pieces))[::-1]
        before = _at_edge(pieces, _Kind.OPEN, _Kind.CLOSE, after)
        texts = [""] * len(tokens)
        for piece, *edges in zip(pieces, before, after, strict=True):
            shows = piece.kind is not _Kind.BREAK
            texts[piece.token] += piece.text if shows else "" if any(edges) else " "
        for token, text in zip(tokens, texts, strict=True):
            yield Token(token.lineno, token.type, text) if token.type == "data" else token


def _pieces(tokens: Sequence[Token]) -> Iterator[_Piece]:
    markup, translated = _Markup(), False
    for number, token in enumerate(tokens):
        if token.type == "data":
            pieces = [(_Kind.TEXT, token.value)] if translated else markup.pieces(token.value)
            yield from (_Piece(number, kind, text) for kind, text in pieces)
        elif token.type == "block_begin":
            statement = tokens[number + 1].value
            translated = statement == "trans" or (translated and statement != "endtrans")
            if statement == "set" and tokens[number + 3].type == "block_end":
                yield _Piece(number, _Kind.EDGE)
            elif not markup.in_tag:
                yield from (_Piece(number, kind) for kind in _STATEMENTS.get(statement, ()))
        elif token.type == "variable_begin" and not markup.in_tag:
            yield _Piece(number, _Kind.TEXT)


def _at_edge(pieces: Sequence[_Piece], opening: _Kind, closing: _Kind, hidden: Sequence[bool]) -> list[bool]:
    """For each piece, whether a space before it, in this direction, is certainly invisible.

    A line break that is not ``hidden`` becomes a space, next to which another space is invisible.
    """
    answers, edge, branches = [], True, [[True, True]]
    for piece, gone in zip(pieces, hidden, strict=True):
        answers.append(edge)
        if piece.kind in (_Kind.TEXT, _Kind.EDGE):
            edge = piece.kind is _Kind.EDGE
        elif piece.kind is opening:
            branches.append([edge, edge])
        elif piece.kind is _Kind.ELSE:
            branches[-1][1] &= edge
            edge = branches[-1][0]
        elif piece.kind is closing:
            edge &= branches.pop()[1]
        elif piece.kind is _Kind.BREAK and opening is _Kind.OPEN:
            edge = edge or not gone
    return answers


class _Markup:
    """The state of an HTML parser across the statements and expressions of a template."""

    def __init__(self) -> None:
        self._tag = self._quote = self._verbatim = ""

    @property
    def in_tag(self) -> bool:
        """Whether the text ended inside a tag, between ``<`` and ``>``."""
        return bool(self._tag)

    def pieces(self, text: str) -> Iterator[tuple[_Kind, str]]:
        """The pieces of the next ``text``."""
        for match in _MARKUP.finditer(text):
            yield self._within_tag(match[0]) if self._tag else self._between_tags(match[0])

    def _between_tags(self, text: str) -> tuple[_Kind, str]:
        if self._verbatim and text.lower() != f"</{self._verbatim}":
            return _Kind.TEXT, text
        if "\n" in text:
            return _Kind.BREAK, text
        if text[0] != "<" or len(text) == 1:
            return _Kind.TEXT, text
        self._tag, self._verbatim = text[1:].lower(), ""
        return self._kind(), text

    def _within_tag(self, text: str) -> tuple[_Kind, str]:
        kind = _Kind.TAG
        if text == self._quote:
            self._quote = ""
        elif text in ('"', "'") and not self._quote:
            self._quote = text
        elif text == ">" and not self._quote:
            kind = self._kind()
            self._verbatim = self._tag if self._tag in _VERBATIM else ""
            self._tag = ""
        return kind, " " if "\n" in text else text

    def _kind(self) -> _Kind:
        return _Kind.EDGE if _BOXES.fullmatch(self._tag) else _Kind.TEXT
