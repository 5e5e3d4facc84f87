"""Message files of gettext are read as they are written."""

from pathlib import Path

import pytest
from babel.messages.pofile import PoFileError

from webapp.kit.message_files import pairs, read

HEAD = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"

"""


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / "fr" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(HEAD + text, "utf-8")
    return file


def test_several_files_are_one_language(tmp_path: Path) -> None:
    pages = write(tmp_path, "pages.po", 'msgid "Close"\nmsgstr "Fermer"\n')
    apps = write(
        tmp_path,
        "apps.po",
        'msgid "{count} app"\nmsgid_plural "{count} apps"\nmsgstr[0] "{count} appli"\nmsgstr[1] "{count} applis"\n',
    )
    french = read([apps, pages])
    assert (french.gettext("Close"), french.gettext("Open")) == ("Fermer", "Open")
    assert [french.ngettext("{count} app", "{count} apps", count) for count in (0, 1, 2)] == [
        "{count} appli", "{count} appli", "{count} applis",
    ]  # fmt: skip


def test_the_same_message_differs_by_its_context(tmp_path: Path) -> None:
    pages = write(
        tmp_path,
        "pages.po",
        'msgctxt "noun"\nmsgid "Runs"\nmsgstr "Exécutions"\n\nmsgctxt "verb"\nmsgid "Runs"\nmsgstr "S’exécute"\n',
    )
    apps = write(tmp_path, "apps.po", 'msgid "Runs"\nmsgstr "Courses"\n')
    french = read([pages, apps])
    assert [french.pgettext(context, "Runs") for context in ("noun", "verb")] == ["Exécutions", "S’exécute"]
    assert (french.gettext("Runs"), french.pgettext("other", "Runs")) == ("Courses", "Runs")
    assert pairs([pages]) == {}


def test_an_empty_translation_stays_english(tmp_path: Path) -> None:
    assert read([write(tmp_path, "pages.po", 'msgid "Close"\nmsgstr ""\n')]).gettext("Close") == "Close"


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PoFileError):
        read([write(tmp_path, "pages.po", "msgid Close")])
