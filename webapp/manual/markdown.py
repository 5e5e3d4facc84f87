"""One Markdown file of the manual as HTML: headings with anchors, tables that scroll, links between its pages.

The text is CommonMark with tables; HTML in it stays text. A picture in ``static/pictures`` is shown as the theme wants
it: beside ``apps.webp`` stands ``apps-dark.webp``. Anchors are those of code hosts, so that a link works in both
places. The addresses of a default installation, which stand in the text, become those of this one before anything is
escaped. Which files there are is left to :mod:`pages`.
"""

import functools
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from webapp.kit import assets, images

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_PAGE, _FILE = re.compile(r"([a-z]+)\.md(#[\w-]+)?"), re.compile(r"files/[\w.@-]+")
_PICTURE = re.compile(r"(?:\.\./)*static/(pictures/[a-z-]+)\.webp")
_DARK = '(prefers-color-scheme: dark)"'
_SHOWN = Markup(
    '<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)"><img src="{light}" alt="{alt}" '
    'width="{width}" height="{height}" loading="lazy"></picture>'
)
_TITLE = 3  # tokens of the first heading
_NO_WORD = re.compile(r"[^\w\- ]")
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of ``level`` 1 to 4 and the plain text below it, down to the next heading of any level."""

    level: int
    heading: str
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """One rendered file. Its first section is that of its title, which ``html`` leaves to the template."""

    html: Markup
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        """The heading of the whole file."""
        return self.sections[0].heading

    def themed(self, theme: str) -> Markup:
        """The HTML for somebody who has chosen the ``theme`` "light" or "dark"; else pictures go by the system's."""
        media = {"light": 'not all"', "dark": 'all"'}.get(theme, _DARK)
        return Markup(str(self.html).replace(_DARK, media))  # noqa: S704  # no text of a page has an unescaped quote

    @property
    def lead(self) -> str:
        """The first sentence, as plain text."""
        first = self.sections[0].text.partition("\n")[0]
        return first.partition(". ")[0].rstrip(".") + "."


def render(source: str, addresses: Mapping[str, str]) -> Document:
    """The document in ``source``; each key of ``addresses`` is replaced by its value, in text, code and links.

    One thread renders at a time: the parser's table of escapes (mdurl) is found by a second thread before the first has
    filled it.
    """
    with _ONE_AT_A_TIME:
        return _rendered(_parser(), source, addresses)


def _rendered(parser: "MarkdownIt", source: str, addresses: Mapping[str, str]) -> Document:
    tokens = parser.parse(source)
    fill = _filler(addresses)
    for token in _all(tokens):
        token.content = fill(token.content)
        if token.type == "link_open":
            _lead(token, fill)
    sections = tuple(_sections(tokens))
    _label_cells(tokens)
    html = parser.renderer.render(tokens[_TITLE:], parser.options, {})
    return Document(Markup(html), sections)  # noqa: S704  # the renderer escapes


def anchor_of(heading: str) -> str:
    """The anchor that code hosts give a heading: lower case, without punctuation, hyphens for spaces."""
    return _NO_WORD.sub("", heading.lower()).strip().replace(" ", "-")


@functools.cache
def _parser() -> "MarkdownIt":
    """Imported when the first page is asked for: it takes a tenth of a second that no command needs."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    # The renderer passes itself first, for it takes these for methods of its own.
    parser.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("image", _image)
    return parser


def _fence(_: Any, tokens: Sequence["Token"], index: int, *__: Any) -> str:
    return str(Markup('<pre tabindex="0"><code>{}</code></pre>\n').format(tokens[index].content))


def _image(renderer: Any, tokens: Sequence["Token"], index: int, options: Any, env: Any) -> str:
    """A picture of a page in both themes; other images as they are."""
    token = tokens[index]
    picture = _PICTURE.fullmatch(str(token.attrs["src"]))
    file = assets.static_dir() / f"{picture[1]}.webp" if picture else None
    size = images.measure(file.read_bytes()) if file and file.is_file() else None
    if not picture or not size:
        shown: str = renderer.image(tokens, index, options, env)
        return shown
    light, dark = (assets.asset_url(f"{picture[1]}{suffix}.webp") for suffix in ("", "-dark"))
    alt = _plain(token)
    return str(_SHOWN.format(light=light, dark=dark, alt=alt, width=size.width, height=size.height))


def _all(tokens: Sequence["Token"]) -> Iterator["Token"]:
    for token in tokens:
        yield token
        yield from _all(token.children or ())


def _filler(addresses: Mapping[str, str]) -> Callable[[str], str]:
    """What fills this installation's addresses into a text; of two that begin alike the longer one counts."""
    if not addresses:
        return str
    pattern = re.compile("|".join(map(re.escape, sorted(addresses, key=len, reverse=True))))
    return lambda text: pattern.sub(lambda match: addresses[match[0]], text)


def _lead(link: "Token", fill: Callable[[str], str]) -> None:
    """Lead a link to where the page is served."""
    target = str(link.attrs.get("href", ""))
    if page := _PAGE.fullmatch(target):
        target = f"/docs/{page[1]}{page[2] or ''}"
    elif _FILE.fullmatch(target):
        target = f"/docs/{target}"
    link.attrs["href"] = fill(target)
    link.attrs["class"] = "link"


def _sections(tokens: list["Token"]) -> Iterator[Section]:
    """Every heading with its text; on the way, headings get their anchors and lead to themselves."""
    from markdown_it.token import Token

    level, heading, texts = 0, "", list[str]()
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            if level:
                yield Section(level, heading, anchor_of(heading), "\n".join(texts))
            inline = tokens[place + 1]
            level, heading, texts = int(token.tag[1:]), _plain(inline), []
            anchor = anchor_of(heading)
            token.attrs["id"] = anchor
            link = Token("link_open", "a", 1, attrs={"href": f"#{anchor}"})
            inline.children = [link, *(inline.children or ()), Token("link_close", "a", -1)]
        elif token.type == "fence" or (token.type == "inline" and tokens[place - 1].type != "heading_open"):
            texts.append(_plain(token))
    if level:
        yield Section(level, heading, anchor_of(heading), "\n".join(texts))


def _label_cells(tokens: Sequence["Token"]) -> None:
    """Give each cell but the first of its row the heading of its column, for screens that show rows as cards."""
    headings, column = list[str](), 0
    for place, token in enumerate(tokens):
        if token.type == "thead_open":
            headings = []
        elif token.type == "th_open":
            headings.append(_plain(tokens[place + 1]))
        elif token.type == "tr_open":
            column = 0
        elif token.type == "td_open":
            if column:
                token.attrs["data-label"] = headings[column]
            column += 1


def _plain(token: "Token") -> str:
    """What a token says, without its marks."""
    if not token.children:
        return token.content.strip()
    parts = (" " if child.type == "softbreak" else child.content for child in token.children)
    return "".join(parts).strip()
