"""Layout of templates: a line break is one space, and none where a browser would show none. Else pages are Jinja's."""

import re

import jinja2
import pytest
from jinja2 import nodes
from markupsafe import Markup, escape

from tests import messages
from tests.every import of_every
from tests.manual.documents import ROOT
from webapp.kit import templates, translation
from webapp.kit.translation import lazy

REMEMBERED = re.compile(r"set (\w+) = \w+\|remembered")


def rendered(source: str, **context: object) -> str:
    environment = jinja2.Environment(autoescape=True)
    templates.prepare(environment)
    return environment.from_string(source).render(**context)


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("\n<p>\n  a\n  <b>b</b>\n</p>\n", "<p>a <b>b</b></p>"),
        ("<p>two\n   lines of words</p>", "<p>two lines of words</p>"),
        ("<p>a <b>b</b>, c</p>", "<p>a <b>b</b>, c</p>"),
        ("<b>\n  a\n</b>", "<b> a </b>"),
        ("{{ x }}\n{{ x }} {{ x }}", "1 1 1"),
        ("<ul>\n  {% for y in [1, 2] %}\n    <li>{{ y }}</li>\n  {% endfor %}\n</ul>", "<ul><li>1</li><li>2</li></ul>"),
        ("<p>{% for y in [1, 2] %}\n{{ y }}\n{% endfor %}</p>", "<p> 1  2 </p>"),
        ("{% for y in [1, 2] %}{{ y }}{% endfor %}", "12"),
    ],
)
def test_a_line_break_is_a_space_unless_it_stands_beside_a_box(source: str, html: str) -> None:
    assert rendered(source, x=1) == html


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("<p>\n  {% if x %}\n    yes\n  {% else %}\n    no\n  {% endif %}\n</p>", "<p>yes</p>"),
        ("a\n{% if x %}\n  {{ x }}\n{% endif %}\nb", "a 1 b"),
        ("a\n{% if x %}\n  <p>{{ x }}</p>\n{% endif %}\n", "a<p>1</p>"),
        ("{% if x %} · {{ x }}{% endif %}\n", " · 1"),
        ("<p>{% if not x %}\nno{% endif %}\nb</p>", "<p> b</p>"),
        (
            "{% macro m() %}\n  <b>{{ caller() }}</b>\n{% endmacro %}a {% call m() %}\n c\n{% endcall %}\nd",
            "a <b>c</b> d",
        ),
        ("a{% set y %}\n  a\n{% endset %}\n{{ y }}{% block z %}\n  b\n{% endblock %}", "aab"),
    ],
)
def test_statements_show_nothing_themselves(source: str, html: str) -> None:
    assert rendered(source, x=1) == html


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ('<a class="b"\n   href="/">c</a>', '<a class="b" href="/">c</a>'),
        ('<a title="{{ x }} > 0"\n   data-b="<p>\n  c">d</a>', '<a title="1 > 0" data-b="<p> c">d</a>'),
        ("<a\n   {% if x %}hidden{% endif %}>b</a>", "<a hidden>b</a>"),
        ("<pre>\n a <i>b</i>\n{{ x }}\n</pre>\n<i>c</i>", "<pre>\n a <i>b</i>\n1\n</pre><i>c</i>"),
        ('<textarea rows="2">\n{{ x }}\n</textarea>\n', '<textarea rows="2">\n1\n</textarea>'),
        ("<script>\n  if (a < b) c();\n</script>\n", "<script>\n  if (a < b) c();\n</script>"),
        ("{% trans %}\n  Hello,\n  {{ x }}.\n{% endtrans %}\n<p>", "Hello, 1.<p>"),
    ],
)
def test_tags_and_what_is_kept_as_it_stands(source: str, html: str) -> None:
    assert rendered(source, x=1) == html


def test_an_error_is_reported_by_its_line_in_the_file() -> None:
    environment = jinja2.Environment(autoescape=True)
    templates.prepare(environment)
    template = environment.from_string("<p>\n\n  {{ 1 / 0 }}\n</p>")
    with pytest.raises(ZeroDivisionError) as raised:
        template.render()
    assert raised.traceback[-1].lineno + 1 == 3


def test_words_between_stars_are_bold_and_nothing_else_is_markup() -> None:
    text = "Open **A & B → C**, then <i>**D**</i> * 2 **"
    assert rendered("{{ text|strong }}", text=text) == (
        "Open <b>A &amp; B → C</b>, then &lt;i&gt;<b>D</b>&lt;/i&gt; * 2 **"
    )


def test_a_template_holds_what_is_known_everywhere_in_one_dict() -> None:
    environment = jinja2.Environment(loader=jinja2.DictLoader({"macros": "{% macro hi() %}{{ word }}{% endmacro %}"}))
    environment.globals["word"] = "hello"
    templates.prepare(environment)
    using = environment.from_string("{% from 'macros' import hi %}{{ hi() }} {{ own }}", globals={"own": "you"})
    assert using.render() == "hello you"
    assert type(using.globals) is dict


class Text(str):
    """A text of another kind."""


class Drawn:
    """What draws itself."""

    def __html__(self) -> str:
        return "<i>drawn</i>"


EVIL = "<script>alert('x') & \"y\"</script>"
VALUES = [EVIL, "", "plain", Text(EVIL), Markup("<b>"), Drawn(), lazy(EVIL), 5, 1.5, None, True, [EVIL], {"a": EVIL}]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_value_is_escaped_as_markupsafe_has_it(value: object) -> None:
    assert rendered("{{ x }}", x=value) == str(escape(value))


@pytest.mark.parametrize(
    "source",
    [
        "{{ x }}", '<a title="{{ x }}">', "{% set y = x %}{{ y }}", "{% set y %}{{ x }}{% endset %}{{ y }}",
        "{% macro m(v) %}{{ v }}{% endmacro %}{{ m(x) }}", "{% for y in [x] %}{{ y }}{% endfor %}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ x }}{% endcall %}", "{{ x ~ 'a' }}",
        "{% filter upper %}{{ x }}{% endfilter %}", "{% block b %}{{ x }}{% endblock %}{{ self.b() }}",
        "{% autoescape false %}{{ x }}{% endautoescape %}", "{{ x|safe }}", "{{ [x, x]|join(', ') }}", "{{ missing }}",
    ],
)  # fmt: skip
@of_every("value", VALUES, lambda value: type(value).__name__)
def test_a_page_is_what_jinja_makes_of_it(source: str, value: object) -> None:
    assert rendered(source, x=value) == jinja2.Environment(autoescape=True).from_string(source).render(x=value)


def test_functions_of_every_kind_are_called() -> None:
    @jinja2.pass_context
    def of_context(context: jinja2.runtime.Context, name: str) -> object:
        return context.resolve(name)

    class Callable:
        def __call__(self, word: str = "class") -> str:
            return word

    def plain(*words: str, **named: int) -> str:
        return f"{'-'.join(words)}{sum(named.values())}"

    source = (
        "{% macro shout(word) %}{{ word }}!{% endmacro %}{% for word in ('a',) %}{% set set_here = word %}"
        "{{ plain(word, n=1) }} {{ of_context('set_here') }} {{ made() }} {{ shout(word) }}{% endfor %}"
    )
    assert rendered(source, plain=plain, of_context=of_context, made=Callable()) == "a1 a class a!"


PARTS = {
    "frame": "<b>{% block top %}{{ x }}{% endblock %}</b>{% block body %}{% endblock %}{% include 'end' %}",
    "middle": "{% extends 'frame' %}{% block body %}[{% block inner %}{% endblock %}]{% endblock %}",
    "page": (
        "{% extends 'middle' %}{% from 'macros' import twice %}{% block top %}{{ super() }}!{% endblock %}"
        "{% block inner %}{% for y in x %}{% include 'end' %}{{ loop.index }}{{ twice(y) }}{% endfor %}"
        "{% include ['missing', 'end'] %}{% include 'missing' ignore missing %}{% include 'alone' without context %}"
        "{% set kept %}{% include 'end' %}{% endset %}{{ kept }}{% endblock %}"
    ),
    "macros": "{% macro twice(y, z='&') %}{{ y }}{{ z }}{{ y }}{% endmacro %}",
    "end": "<i>{{ y|default('-') }}{{ x }}</i>",
    "alone": "({{ x|default('alone') }})",
}


def test_a_page_of_many_templates_is_what_jinja_makes_of_it() -> None:
    pages = []
    for prepared in (False, True):
        environment = jinja2.Environment(loader=jinja2.DictLoader(PARTS), autoescape=True)
        if prepared:
            templates.prepare(environment)
        pages.append(environment.get_template("page").render(x=["<", Markup("<u>")]))
    assert pages[0] == pages[1]


def test_what_goes_wrong_in_an_included_template_is_reported_by_its_line() -> None:
    environment = jinja2.Environment(
        loader=jinja2.DictLoader({"page": "{% include 'part' %}", "part": "\n\n{{ 1/0 }}"})
    )
    templates.prepare(environment)
    with pytest.raises(ZeroDivisionError) as raised:
        environment.get_template("page").render()
    assert raised.traceback[-1].lineno + 1 == 3


def test_a_remembered_macro_is_drawn_once_for_the_same_arguments() -> None:
    drawn: list[str] = []
    source = (
        "{% macro mark(name, label='') %}<i {{ label }}>{{ name }}{{ note(name) }}</i>{% endmacro %}"
        "{% set mark = mark|remembered %}{{ mark('a') }}{{ mark('a') }}{{ mark('a', label=x) }}{{ mark('a', label=y) }}"
    )
    page = rendered(source, note=lambda name: drawn.append(name) or "", x="<", y=Markup("<"))  # type: ignore[func-returns-value]
    assert page == "<i >a</i><i >a</i><i &lt;>a</i><i <>a</i>"
    assert len(drawn) == 3


def test_a_remembered_macro_is_drawn_in_each_language() -> None:
    environment = jinja2.Environment(autoescape=True)
    templates.prepare(environment)
    source = "{% macro out() %}{{ _('Sign out') }}{% endmacro %}{% set out = out|remembered %}{{ out() }}"
    environment.loader = jinja2.DictLoader({"out": source, "page": "{% from 'out' import out %}{{ out() }}"})
    page, words = environment.get_template("page"), []
    for tag in ("en", "de", "en"):
        translation.speak(tag)
        words.append(page.render())
    assert words == ["Sign out", "Abmelden", "Sign out"]


def test_a_remembered_macro_uses_nothing_but_its_arguments() -> None:
    """What it drew for one person is shown to others: no session, no request, no address of the page may be in it."""
    environment, used = jinja2.Environment(autoescape=True), dict[str, set[str]]()
    templates.prepare(environment)
    for file in sorted((ROOT / "templates").rglob("*.html")):
        macros = {macro.name: macro for macro in environment.parse(file.read_text("utf-8")).find_all(nodes.Macro)}
        names = [name for name in REMEMBERED.findall(file.read_text("utf-8")) if name in macros]
        for name in names:  # with the macros of the file that it calls
            said = list(macros[name].find_all(nodes.Name))
            used[name] = {each.name for each in said} - {each.name for each in said if each.ctx != "load"}
            names += [called for called in sorted(used[name]) if called in macros and called not in names]
    assert len(used) > 10
    assert set().union(*used.values()) - used.keys() <= {"_", "gettext", "ngettext", "count_of", "_trans", "paths"}


def test_what_an_included_template_sets_stays_in_it() -> None:
    files = {
        "page": "{% set a, b = 1, 2 %}{% for c in [3, 4] %}{% include 'part' %}{% endfor %}{{ a }}{{ b }}",
        "part": "{{ '' if d is undefined else d }}{% set a, d = c, c %}{{ a }}{{ b }}{{ e }}{% include 'inner' %}",
        "inner": "{{ a }}{{ c }}{{ d }} ",
    }
    pages = []
    for prepared in (False, True):
        environment = jinja2.Environment(loader=jinja2.DictLoader(files), autoescape=True)
        if prepared:
            templates.prepare(environment)
        pages.append(environment.get_template("page").render(e=5))
    assert pages == ["325333 425444 12"] * 2


def test_the_messages_of_pages_in_all_languages_are_kept_side_by_side() -> None:
    of_pages = len(messages.catalog("de", "pages"))
    assert of_pages * len(translation.LANGUAGES) * 1.5 < translation.MESSAGES_KEPT
