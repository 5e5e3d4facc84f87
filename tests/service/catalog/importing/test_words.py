"""Words for people: labels, sentences without markup, and names that fit their place."""

import time

import pytest

from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.words import Names


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Lists **all** `pets`. See [here](https://x.example/a_b).\n\n# More\nand more", "Lists all pets. See here."),
        ("<p>Make a <b>pet</b></p>", "Make a pet"),
        ("```\ncode\n```\nAfter the code.", "After the code."),
        ("## Heading\n\nText", "Text"),
        ("# Only", "Only"),
        ("One &amp; two\x00\u202e three", "One & two three"),
        ("An _important_ id (`proj_…`) of snake_case_", "An important id (proj_…) of snake_case_"),
        (None, ""),
        ("", ""),
    ],
)
def test_a_description_is_cut_to_plain_sentences(text: object, shown: str) -> None:
    assert words.sentences(text) == shown


def test_only_whole_sentences_stay_unless_the_first_is_too_long() -> None:
    assert words.sentences("One. Two is longer. Three.", 10) == "One."
    assert words.sentences("word " * 100, 20) == "word word word…"
    assert (words.one_sentence("Make it"), words.one_sentence("Done!"), words.one_sentence("")) == (
        "Make it.",
        "Done!",
        "",
    )


def test_names_become_labels_keys_props_and_fields() -> None:
    assert [words.label(name) for name in ("customerId", "per_page", "X-API-Key", "a.b[]", "")] == [
        "Customer ID", "Per page", "X API key", "A b", "Value",
    ]  # fmt: skip
    assert [words.key(name) for name in ("repos/create-webhook", "getPetById", "3d print", "über", "…")] == [
        "repos-create-webhook", "get-pet-by-id", "d-print", "ber", "",
    ]  # fmt: skip
    assert len(words.key("word" * 40)) <= 60
    assert [words.prop(name) for name in ("page[size]", "2fa", "ok_1", "[]")] == ["page_size", "p_2fa", "ok_1", "value"]
    assert [words.field(name) for name in ("BaseURL", "oauthToken", "2nd")] == ["base_url", "its_oauth_token", "f_2nd"]


def test_each_name_is_given_once_and_stays() -> None:
    names = Names({"query:id": "id"}, ("account",))
    assert names.name("query:id", "other", "query") == "id"
    assert names.name("body:id", "id", "body") == "id_body"
    assert names.name("body:account", "account", "body") == "account_body"
    assert names.name("form:id", "id", "body") == "id_2"
    assert names.name("x", "id", "") == "id_3"


@pytest.mark.parametrize("text", ["\n" * 20_000, "<script " * 2500, "<!--" * 5000, "<style>" * 2800])
def test_marks_that_never_end_take_no_time(text: str) -> None:
    begun = time.process_time()
    assert words.sentences(f"Works. {text}x").startswith("Works")
    assert time.process_time() - begun < 0.2


def test_addresses_of_links_are_left_out_whatever_they_are() -> None:
    assert words.sentences("Do [it](javascript:alert(1)) and [more](https://x.example/a_(b)).") == "Do it and more."
