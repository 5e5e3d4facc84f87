"""Extracts the sentences of the service's modules for gettext's message files; a Babel extraction method.

Sentences need no marker: every string that starts with a capital letter or a placeholder and ends with a full stop is
extracted. The expressions in f-strings become placeholders, named after them, and so does "the provider", because pages
insert its name. Docstrings are left out, except those of errors, which are their messages; so are texts for logs and
developers, and texts that other message files have. Words that are inserted into sentences are extracted if they are
:func:`webapp.kit.sentences.marked`.
"""

import ast
import re
from collections.abc import Collection, Iterator
from typing import BinaryIO

from webapp.kit.sentences import PLACE

Message = tuple[int, str, str, list[str]]  # line, function, message, comments
_SENTENCE = re.compile(r"[“A-Z{](.* )?\S+(?<!\.)[.!?]( \{\w*\})?", re.DOTALL)
_CODE = re.compile(r"SELECT |INSERT |UPDATE |DELETE |WITH ")
_PROVIDER = re.compile(r"\b[Tt]he provider\b")
# Facts, which catalog.messages finds; and names of constants that only the audit shows.
_ELSEWHERE = {"name", "description", "label", "content", "words", "advice", "_AUDITED"}
# Calls whose words are translated already, or that no page shows: absent things have a page of their own.
_UNSEEN = {
    "gettext", "pgettext", "ngettext", "count_of", "lazy", "lazy_pgettext", "_",
    "debug", "info", "warning", "error", "exception", "_note", "NotFound", "Field",
    "respond",
    "ValueError", "TypeError", "AttributeError", "AssertionError", "NotImplementedError", "LoadError", "ResultError",
}  # fmt: skip


def sentences(file: BinaryIO, keywords: object, comments: Collection[str], options: object) -> Iterator[Message]:
    """The messages of a module. Raises :class:`SyntaxError`."""
    messages = dict.fromkeys(_of(ast.parse(file.read())))
    if any("{provider}" in message for message in messages):
        messages |= dict.fromkeys(("The provider", "the provider"))
    yield from ((1, "", message, []) for message in messages)


def _of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ClassDef) and _is_error(node):
        yield from filter(_is_sentence, [_with_provider(ast.get_docstring(node) or "")])
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and _called(child) == "marked":
            yield from (_text(words) for words in child.args if isinstance(words, ast.Constant | ast.JoinedStr))
        elif isinstance(child, ast.JoinedStr) or (isinstance(child, ast.Constant) and isinstance(child.value, str)):
            text = _with_provider(_text(child))
            if _is_sentence(text):
                yield text
        elif not _is_unseen(child):
            yield from _of(child)


def _is_sentence(text: str) -> bool:
    if "``" in text:  # a docstring with names of code is for developers
        return False
    words = PLACE.sub("", text)
    return bool(_SENTENCE.fullmatch(text) and re.search("[a-z]{2}", words) and not _CODE.match(text))


def _is_error(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id in ("PatchbayError", "ConnectFailed") for base in node.bases)


def _is_unseen(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _called(node) in _UNSEEN
    if isinstance(node, ast.keyword):
        return node.arg in _ELSEWHERE
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id in _ELSEWHERE
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _text(node: ast.JoinedStr | ast.Constant) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    text = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            name, number = _name(part.value), 2
            while f"{{{name}}}" in text and not isinstance(part.value, ast.Name | ast.Attribute):
                name, number = f"{name.rstrip('0123456789')}{number}", number + 1
            text += f"{{{name}}}"
        else:
            text += str(getattr(part, "value", ""))
    return text


def _name(node: ast.expr) -> str:
    """The name of an expression's placeholder, such as ``field_label`` for ``field.label``."""
    match node:
        case ast.Name(id):
            return id.strip("_").lower()
        case ast.Attribute(value, attr):
            return f"{_name(value)}_{attr.lower()}"
        case ast.Subscript(value, ast.Constant(key)) if isinstance(key, str):
            return f"{_name(value)}_{key}"
        case ast.Call(ast.Name(id)):
            return id.strip("_")
        case ast.BoolOp(values=[first, *_]) | ast.IfExp(body=first) | ast.BinOp(left=first):
            return _name(first)
    return "value"


def _with_provider(text: str) -> str:
    return _PROVIDER.sub("{provider}", text)
