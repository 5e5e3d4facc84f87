"""What is said in a language that has a catalog, and what in English because no catalog has it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jinja2
import pytest
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from tests.fakes.catalogs import Plurals, Words, teach
from webapp.body_limits import REQUEST
from webapp.kit import templates, translation
from webapp.kit.message_files import read
from webapp.kit.translation import choose, gettext, language, lazy, moment, ngettext, speak

CLOSE = lazy("Close")  # a constant, made before anybody speaks
POLISH = {("{count} app", "{count} apps"): ("{count} aplikacja", "{count} aplikacje", "{count} aplikacji")}


@pytest.fixture(autouse=True)
def languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """German, Polish with its three forms, and Portuguese as it is spoken in Brazil."""
    german: dict[str | tuple[str, str], str | Plurals] = {
        "Close": "Schließen",
        "Hello, %(name)s.": "Guten Tag, %(name)s.",
        ("%(num)s app", "%(num)s apps"): ("%(num)s App", "%(num)s Apps"),
    }
    languages: dict[str, Words] = {"de": german, "pl": POLISH, "pt-BR": {"Close": "Fechar"}}
    for tag, words in languages.items():
        teach(monkeypatch, tmp_path, tag, words)
    yield
    speak(translation.DEFAULT)
    translation._catalog.cache_clear()


def test_a_language_is_spoken_where_its_catalog_has_the_words() -> None:
    speak("de")
    assert (language(), gettext("Close"), gettext("Open")) == ("de", "Schließen", "Open")
    speak("pt-BR")
    assert gettext("Close") == "Fechar"
    assert ngettext("{count} app", "{count} apps", 2) == "{count} apps"


def test_a_language_that_nobody_offers_is_english() -> None:
    speak("de")
    speak("tlh")
    assert (language(), gettext("Close")) == ("en", "Close")


@pytest.mark.parametrize(
    ("count", "words"), [(1, "{count} aplikacja"), (3, "{count} aplikacje"), (5, "{count} aplikacji")]
)
def test_a_language_has_the_plurals_that_it_has(count: int, words: str) -> None:
    speak("pl")
    assert ngettext("{count} app", "{count} apps", count) == words


def test_a_constant_shows_what_is_spoken_at_that_moment() -> None:
    said = []
    for tag in ("en", "de", "en"):
        speak(tag)
        said.append((str(CLOSE), f"{CLOSE}!", CLOSE.upper(), CLOSE == "Schließen"))
    assert said == [
        ("Close", "Close!", "CLOSE", False),
        ("Schließen", "Schließen!", "SCHLIESSEN", True),
        ("Close", "Close!", "CLOSE", False),
    ]


def test_threads_do_not_change_each_others_language() -> None:
    speak("de")
    with ThreadPoolExecutor(1) as other:
        other.submit(speak, "pl").result()
        assert (language(), other.submit(language).result()) == ("de", "pl")


def test_templates_are_translated_and_escape_what_is_filled_in() -> None:
    environment = jinja2.Environment(autoescape=True)
    templates.prepare(environment)
    template = environment.from_string(
        '{{ _("Close") }} {{ close }} {% trans %}\n  Hello,\n  {{ name }}.\n{% endtrans %} '
        "{% trans num=2 %}{{ num }} app{% pluralize %}{{ num }} apps{% endtrans %}"
    )
    english = template.render(close=CLOSE, name="<b>")
    speak("de")
    german = template.render(close=CLOSE, name="<b>")
    assert english == "Close Close Hello, &lt;b&gt;. 2 apps"
    assert german == "Schließen Schließen Guten Tag, &lt;b&gt;. 2 Apps"


def test_templates_say_what_a_word_means(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "de" / "contexts.po"
    file.parent.mkdir(exist_ok=True)
    file.write_text('msgctxt "verb"\nmsgid "Runs"\nmsgstr "Läuft"\n', "utf-8")
    environment = jinja2.Environment(autoescape=True)
    templates.prepare(environment)
    template = environment.from_string("{{ pgettext('verb', 'Runs') }} {{ pgettext('noun', 'Runs') }}")
    assert template.render() == "Runs Runs"
    monkeypatch.setattr(translation, "catalog", lambda: read([file]))
    assert template.render() == "Läuft Runs"


def test_a_message_costs_no_look_through_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = jinja2.Environment(autoescape=True)
    templates.prepare(environment)
    source = "{% for n in (1, 2) %}{{ _('Close') }}{{ _('50%%') }}{{ _('For %(who)s', who='&') }}{% endfor %}"
    template = environment.from_string(source)
    monkeypatch.setattr(jinja2.runtime.Context, "derived", lambda *_: pytest.fail("a context was made for a message"))
    assert template.render() == 2 * "Close50%For &amp;"


def test_times_are_reported_in_the_language_that_is_spoken() -> None:
    now, ago = 1_800_000_000_000, 40 * 86_400_000
    english = moment(now - ago, now)
    speak("de")
    german = moment(now - ago, now)
    assert (english.words, english.exact) == ("6 Dec 2026", "6 Dec 2026, 08:00:00 UTC")
    assert (german.words, german.exact) == ("6. Dez. 2026", "6. Dez. 2026, 08:00:00 UTC")
    assert moment(now - 3_600_000, now).words == "vor 1 Stunde"


NOW = 1_800_000_000_000


@pytest.mark.parametrize(
    ("ago_s", "words"),
    [
        (0, "just now"),
        (44, "just now"),
        (45, "1 minute ago"),
        (119, "1 minute ago"),
        (3 * 3600, "3 hours ago"),
        (2 * 86400, "2 days ago"),
        (-10, "in a moment"),
        (-7200, "in 2 hours"),
        (7 * 86400, "8 Jan"),
        (40 * 86400, "6 Dec 2026"),
    ],
)
def test_moment(ago_s: int, words: str) -> None:
    moment = translation.moment(NOW - ago_s * 1000, NOW)
    assert moment.words == words
    assert moment.exact.endswith("UTC")


def test_moment_says_the_exact_time() -> None:
    assert translation.moment(NOW, NOW) == ("2027-01-15T08:00:00Z", "just now", "15 Jan 2027, 08:00:00 UTC")


@pytest.mark.parametrize(("asked_for", "spoken"), [("de-AT", "de"), ("pt-BR", "pt-BR"), ("pt", "en"), ("", "en")])
def test_a_region_that_nobody_wrote_for_gets_its_language(asked_for: str, spoken: str) -> None:
    speak(asked_for)
    assert language() == spoken


def test_large_numbers_are_written_as_the_language_does() -> None:
    said = []
    for tag in ("en", "de"):
        speak(tag)
        said.append(translation.count_of(1_200, "{count} thing", "{count} things"))
    assert said == ["1,200 things", "1.200 things"]


def test_facts_are_translated_without_their_link() -> None:
    fact = "Close [See the documentation](https://docs.example.com/)"
    assert translation.translated(fact) == fact
    speak("de")
    assert translation.translated(fact) == "Schließen [See the documentation](https://docs.example.com/)"
    assert [translation.translated(text) for text in ("Close", "Odd", "")] == ["Schließen", "Odd", ""]


def test_hebrew_is_written_from_right_to_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert translation.direction() == "ltr"
    monkeypatch.setitem(translation.LANGUAGES, "he", "עברית")
    speak("he")
    assert translation.direction() == "rtl"


@pytest.mark.parametrize(
    ("chosen", "accepted", "spoken"),
    [
        ("de", "pt-BR", "de"),
        ("tlh", "de", translation.DEFAULT),
        ("", "de-AT", "de"),
        ("", "de;q=0.2, pl;q=0.4", "pl"),
        ("", "tlh, de;q=0.2", "de"),
        ("", "tlh", "pl"),
        ("", "", "pl"),
        ("", "pt-BR, de;q=0.9", "pt-BR"),
    ],
)
def test_a_choice_comes_first_then_what_the_browser_prefers_then_the_setting(
    chosen: str, accepted: str, spoken: str
) -> None:
    choose(chosen, parse_accept_header(accepted, LanguageAccept), "pl")
    assert language() == spoken


@pytest.mark.parametrize(
    ("count", "english", "german"),
    [
        (7, "7 B", "7 B"),
        (1_023, "1023 B", "1023 B"),
        (101_000, "99 KiB", "99 KiB"),
        (1_048_063, "1,023 KiB", "1.023 KiB"),
        (1_048_064, "1.0 MiB", "1,0 MiB"),
        (REQUEST, "10.0 MiB", "10,0 MiB"),
    ],
)
def test_sizes_have_the_units_of_limits_and_stay_on_one_line(count: int, english: str, german: str) -> None:
    for tag, words in (("en", english), ("de", german)):
        speak(tag)
        assert translation.size(count) == words.replace(" ", "\xa0")


@pytest.mark.parametrize(
    ("text", "together"),
    [
        ("At most 10 MiB. Enter", "At most 10_MiB. Enter"),
        ("in {minutes} min {seconds} s", "in {minutes}_min {seconds}_s"),
        ("in %(ms)s ms", "in %(ms)s_ms"),
        ("10 Mio au plus", "10_Mio au plus"),
        ("7 d, 7 T, 7 j", "7_d, 7_T, 7_j"),
        ("2 metres, {name} may, %(count)s members", "2 metres, {name} may, %(count)s members"),
        ("à %(name)s s’il connaît, {app} s'arrête", "à %(name)s s’il connaît, {app} s'arrête"),
    ],
)
def test_a_number_and_its_unit_stay_on_one_line(text: str, together: str) -> None:
    assert translation.unbroken(text) == together.replace("_", "\xa0")


def test_a_mail_knows_no_browser() -> None:
    choose("", None, "de")
    assert language() == "de"
    choose("pl", None, "de")
    assert language() == "pl"
