"""Every word that a page says can be said in another language: none stands outside of ``_()`` and ``{% trans %}``."""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import jinja2

from tests.every import of_every

ROOT = Path(__file__).parent.parent
# Not the reference of the API and the sandbox, which speak to developers.
FOLDERS = ("dashboard", "layouts", "link", "shared")
TEMPLATES = sorted(path for folder in FOLDERS for path in (ROOT / "templates" / folder).rglob("*.html"))
SAID = ("aria-label", "placeholder", "title", "alt")
# Names, and what is typed as it stands.
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}
NAMES = {"Patchbay", "Esc", "URL", "JSON", "SQL", "SELECT", "UTF-8", "UTC"} | METHODS
CODES = re.compile(r"[A-Z]|[a-z]+[A-Z][A-Za-z]*|[A-Z][a-z]+(-[A-Z][a-z]+)+|whsec_.*|[a-z]+://\S*")
UNREAD = re.compile(r"[<=/_{]|^btn|^[a-z-]+( [a-z-]+)*$")
# And how many messages they take, or a context and a message.
TRANSLATORS = {"_": 1, "gettext": 1, "pgettext": 2, "lazy_pgettext": 2, "ngettext": 2, "count_of": 2}
# Python that speaks to pages. Code samples are code; what the callback writes down, products are told too, in English.
MODULES = sorted(
    path
    for folder in ("dashboard", "service/link")
    for path in (ROOT / "webapp" / folder).glob("*.py")
    if path.name not in ("snippets.py", "callback.py")
)
SENTENCE = re.compile(r"^[A-Z][a-z]+[.…]?$|[^\W\d_]{2,}[,;:]? [a-z]{2,}|\0 [a-z]{2,}|[a-z]{2,} \0")
UNSAID = re.compile(r"[<=\n]|^[a-z-]+ \0$|^[\w./-]+\.html$|^(SELECT|INSERT|UPDATE|DELETE) |[a-z]+-[a-z]+ '")
# Calls whose words no page shows: logs, what operators and programs read, and what the service's words are compared to.
SPEECHLESS = {
    "ServiceDown", "PatchbayError", "RejectedByProvider", "NotImplementedError", "AssertionError", "ValueError",
    "warning", "error", "exception", "info", "debug", "partition",
}  # fmt: skip
HEADERS = {"Accept", "Allow", "Authorization", "Bearer \0", "Lax", "Origin", "Referer", "Vary", "Patchbay dashboard"}
BROWSERS = {"Android", "Chrome", "Chrom", "Edg", "Edge", "Firefox", "Linux", "Mac", "Opera", "Safari", "Windows"}
UNTOLD = {"Polling", "Instant"}  # how a trigger learns of news; templates put it into words
UNSEEN = re.compile(
    r"{% block (referrer|\w+_class) %}.*?{% endblock %}|[a-z-]+=\"[^\"<>]*\"(?=[^<>]*{%- ?end)", re.DOTALL
)


class Words(HTMLParser):
    """The text and the spoken attributes of a page; ``\\x00`` stands for what a template fills in."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in ("script", "style", "code", "kbd")
        self.found += [value for name, value in attrs if name in SAID and value]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style", "code", "kbd")

    def handle_data(self, data: str) -> None:
        if self._silent <= 0:
            self.found.append(data)


def parts_of(source: str) -> tuple[str, list[str]]:
    """The markup of a template without what is translated, and the literals of its expressions that are not."""
    environment = jinja2.Environment(extensions=["jinja2.ext.i18n"])
    markup, literals, before, translated, opening, messages = "", list[str](), "", False, False, 0
    for _, kind, value in environment.lex(UNSEEN.sub("", source)):
        if kind == "whitespace":
            continue
        if opening:
            translated, opening = value == "trans" or (translated and value != "endtrans"), False
        if kind == "block_begin":
            opening = True
        if kind == "data" and not translated:
            markup += value
        elif kind in ("variable_begin", "block_begin"):
            markup += "\0"
        elif value == "(":
            messages = TRANSLATORS.get(before, 0)
        elif kind == "string":
            if not messages and not translated and before not in ("==", "!="):
                literals.append(value[1:-1])
            messages = max(0, messages - 1)
        before = value
    return markup, literals


def untranslated(source: str) -> Iterator[str]:
    markup, literals = parts_of(source)
    parser = Words()
    # An expression may name an element, or follow its name at once: the parser would take either for text.
    parser.feed(re.sub(r"(<\w+)\0", r"\1 ", markup.replace("<\0", "<x\0")))
    parser.close()
    for text in parser.found:
        if CODES.fullmatch(text.strip()):
            continue
        for word in re.findall(r"[^\W\d_][\w’'-]*", re.sub(r"\0", " ", text)):
            if word not in NAMES and len(word) > 1:
                yield word
    for text in literals:
        looks_said = re.search(r"[A-Z][a-z]+|[a-z] [a-z]+ [a-z]", text)
        if looks_said and not UNREAD.search(text) and text not in NAMES and not CODES.fullmatch(text):
            yield text


@of_every("path", TEMPLATES)
def test_a_template_says_nothing_untranslated(path: Path) -> None:
    assert list(untranslated(path.read_text("utf-8"))) == []


def spoken(node: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """The strings below ``node`` that may reach a page, without those that a translator is given."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            name = child.func.attr if isinstance(child.func, ast.Attribute) else getattr(child.func, "id", "")
            if name in SPEECHLESS:
                continue
            if name in TRANSLATORS:
                yield from (text for argument in child.args if not isinstance(argument, ast.Constant)
                            for text in spoken(ast.Expression(argument)))  # fmt: skip
                continue
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):  # a docstring
            continue
        if isinstance(child, ast.JoinedStr) or (isinstance(child, ast.Constant) and isinstance(child.value, str)):
            yield child
        else:
            yield from spoken(child)


def without_annotations(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None:
                setattr(node, name, ast.Constant(None))
    return tree


def literal(node: ast.Constant | ast.JoinedStr) -> str:
    """The text of a string; ``\\x00`` stands for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values)


@of_every("path", MODULES)
def test_a_module_says_nothing_untranslated(path: Path) -> None:
    texts = {literal(node) for node in spoken(without_annotations(ast.parse(path.read_text("utf-8"))))}
    said = {text for text in texts if SENTENCE.search(text) and not UNSAID.search(text)}
    assert said - NAMES - HEADERS - BROWSERS - UNTOLD == set()
