"""The piece's own translations, by the texts that we show."""

from tests.service.pieces import described
from webapp.service.pieces import languages, metadata


def test_texts_are_translated_as_they_are_shown() -> None:
    words = languages.translations(metadata.read(described.piece(described.SECRET)))
    assert set(words) == {"de"}
    assert words["de"]["Add Task"] == "Aufgabe hinzufügen"
    assert words["de"]["Title"] == "Titel"
    assert words["de"]["When told."] == "Wenn es gesagt wird."


def test_what_is_no_translation_is_left_out() -> None:
    told = described.piece(
        i18n={"de": {"Title": 5, "Add Task": "Add Task", "List": " "}, "fr": [], "xx": {"Title": "T"}}
    )
    assert languages.translations(metadata.read(told)) == {}


def test_labels_of_options_and_of_what_connects_are_texts_too() -> None:
    told = described.piece(
        described.CUSTOM, described.BASIC, i18n={"ja": {"One": "一", "E-mail": "メール", "Server": "サーバー"}}
    )
    assert languages.translations(metadata.read(told))["ja"] == {
        "One": "一", "E-mail": "メール", "Server": "サーバー",
        "One.": "一。", "E-mail.": "メール。", "Server.": "サーバー。",
    }  # fmt: skip
