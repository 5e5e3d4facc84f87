"""What the service said in English is recognised by its form; what it did not say stays as it is."""

import time

import pytest

from webapp.kit.sentences import Sentences

GERMAN = Sentences(
    {
        "{app} cannot be reached. Try again.": "{app} ist nicht erreichbar. Nochmal.",
        "{host} did not answer.": "{host} hat nicht geantwortet.",
        "Enter the {label}.": "Fehlt: {label}.",
        "Missing: {words}.": "Es fehlt: {words}.",
        "Working again.": "Geht wieder.",
        "{title} is missing.": "{title} fehlt.",
        "It was not deleted: {reason} Delete it again.": "Nicht gelöscht: {reason} Nochmal löschen.",
        "{app} and {app} again.": "{app} und wieder {app}.",
        "The app answered with status {status}: {message}": "Die App antwortete mit Status {status}: {message}",
        "Renamed to “{name}”.": "Heißt jetzt „{name}“.",
        "{trigger_name} was started.": "{trigger_name} wurde gestartet.",
        "{before_name} is now called “{after_name}”.": "{before_name} heißt jetzt „{after_name}“.",
        "New task": "Neue Aufgabe",
        "API key": "Schlüssel",
        "Read files": "Dateien lesen",
        "Chat, then call": "Reden",
    }
)


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("Working again.", "Geht wieder."),
        ("Slack cannot be reached. Try again.", "Slack ist nicht erreichbar. Nochmal."),
        ("Enter the API key.", "Fehlt: Schlüssel."),
        ("Missing: Read files; API key.", "Es fehlt: Dateien lesen; Schlüssel."),
        ("Missing: Read files, other.", "Es fehlt: Read files, other."),
        ("Host is missing. Port is missing.", "Host fehlt. Port fehlt."),
        ("Working again. So it says.", "Geht wieder. So it says."),
        ("Issues: Working again.", "Issues: Geht wieder."),
        ("It was not deleted: a.example did not answer. Delete it again.",
         "Nicht gelöscht: a.example hat nicht geantwortet. Nochmal löschen."),
        ("It was not deleted: Gone. Sorry. Delete it again.", "Nicht gelöscht: Gone. Sorry. Nochmal löschen."),
        ("A and A again.", "A und wieder A."),
        ("A and B again.", "A and B again."),
        ("Quota exceeded", "Quota exceeded"),
        ("API key", "Schlüssel"),
        ("The app answered with status 404: API key", "Die App antwortete mit Status 404: API key"),
        ("It was not deleted: The app answered with status 404: API key Delete it again.",
         "Nicht gelöscht: Die App antwortete mit Status 404: API key Nochmal löschen."),
        ("Renamed to “API key”.", "Heißt jetzt „API key“."),
        ("New task was started.", "Neue Aufgabe wurde gestartet."),
        ("Payroll was started.", "Payroll wurde gestartet."),
        ("New task is now called “Payroll”.", "Neue Aufgabe heißt jetzt „Payroll“."),
        ("New task: Working again.", "Neue Aufgabe: Geht wieder."),
        ("HTTP 404: API key", "HTTP 404: API key"),
        ("Working again. API key", "Geht wieder. API key"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_sentence_is_recognised_with_what_fills_it(english: str, german: str) -> None:
    assert GERMAN.translated(english) == german


def test_a_message_that_is_nothing_but_what_fills_it_recognises_nothing() -> None:
    assert Sentences({"{message}": "{message}", "Gone.": "Weg."}).translated("Nobody said this.") == "Nobody said this."


def test_japanese_sentences_stand_without_a_space() -> None:
    words = Sentences({"It failed.": "失敗しました。", "Try again.": "もう一度。"})
    assert words.translated("It failed. Try again.") == "失敗しました。もう一度。"


def test_long_foreign_text_costs_little() -> None:
    began = time.perf_counter()
    for number in range(20):
        GERMAN.translated(f"{number} and " * 120)
    assert time.perf_counter() - began < 1
