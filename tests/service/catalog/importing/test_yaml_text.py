"""YAML is read as data of YAML 1.2, within bounds; what would fill the memory is refused at once."""

import time

import pytest

from webapp.service.catalog.importing import yaml_text
from webapp.service.catalog.importing.yaml_text import YamlMistake, load

LAUGHS = "\n".join(
    ["a0: &a0 [lol, lol]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
).encode()


def test_plain_words_are_what_yaml_1_2_says_and_nothing_else() -> None:
    text = b"a: no\nb: on\nc: 12:30\nd: 2026-11-22\ne: true\nf: 0x1F\ng: 1.5e3\nh: ~\ni: '1'\n200: ok\n"
    assert load(text) == {
        "a": "no", "b": "on", "c": "12:30", "d": "2026-11-22", "e": True, "f": 31, "g": 1500.0, "h": None, "i": "1",
        "200": "ok",
    }  # fmt: skip


def test_aliases_and_merged_keys_are_followed() -> None:
    assert load(b"base: &b {x: 1, y: 2}\none: *b\ntwo: {<<: *b, y: 3}\n") == {
        "base": {"x": 1, "y": 2},
        "one": {"x": 1, "y": 2},
        "two": {"x": 1, "y": 3},
    }


def test_an_alias_that_repeats_too_much_is_refused_in_a_moment() -> None:
    began = time.monotonic()
    with pytest.raises(YamlMistake, match="would not fit into memory"):
        load(LAUGHS)
    assert time.monotonic() - began < 0.2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"a: &a [*a]", "leads to what holds it"),
        (b"a: *b", "undefined alias|leads nowhere"),
        (b"a: 1\n---\nb: 2", "several documents"),
        (b"[" * 300 + b"]" * 300, "nested too deeply"),
        (b"? [a, b]\n: 1", "the name of a member is a list"),
        (b"a: [1", "on line"),
        (b"a: \x00", "may not stand there|allowed"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(text: bytes, sentence: str) -> None:
    with pytest.raises(YamlMistake, match=sentence):
        load(text)


def test_a_tag_makes_no_object() -> None:
    assert load(b"a: !!python/object/apply:os.system [ls]") == {"a": ["ls"]}


def test_reading_ends_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MOST_SECONDS", -1.0)
    with pytest.raises(YamlMistake, match="takes too long"):
        load(b"a: [1]")
