"""The contrast of a brand is that of the colours which the style sheets make, and enough for every hue."""

import re

import pytest

from webapp.kit import assets, contrast
from webapp.kit.contrast import DARK, LIGHT, MAX_HUE, PAIRS, Contrast, Tone

_TOKEN = re.compile(
    r"--([a-z-]+): light-dark\(oklch\(([^()]*(?:\(--accent-h\))?)\), oklch\(([^()]*(?:\(--accent-h\))?)\)\)"
)


def tone(text: str) -> Tone:
    lightness, chroma, hue = text.split(" ")
    return Tone(float(lightness.removesuffix("%")) / 100, float(chroma), None if "var" in hue else float(hue))


def test_the_colours_are_those_of_the_style_sheets() -> None:
    source = (assets.static_dir() / "css" / "patchbay" / "tokens.css").read_text(encoding="utf-8")
    tokens = {name: (tone(light), tone(dark)) for name, light, dark in _TOKEN.findall(source)}
    assert {name: tokens[name] for name in LIGHT} == {name: (LIGHT[name], DARK[name]) for name in LIGHT}
    assert f"--accent-h: {contrast.DEFAULT_HUE};" in source


def test_every_hue_can_be_read_on_every_ground_in_both_themes() -> None:
    for hue in range(MAX_HUE + 1):
        assert min(contrast.of_hue(hue)) >= contrast.ENOUGH, hue


@pytest.mark.parametrize(
    "text, ground, expected",
    [
        (Tone(0, 0, 0), Tone(1, 0, 0), 21.0),
        (Tone(1, 0, 0), Tone(1, 0, 0), 1.0),
        (Tone(0.627955, 0.257683, 29.2339), Tone(1, 0, 0), 3.998),  # pure red, of whose contrast many tables tell
        (Tone(0.452014, 0.313214, 264.052), Tone(1, 0, 0), 8.592),  # pure blue
    ],
)
def test_ratios_are_those_of_the_standard(text: Tone, ground: Tone, expected: float) -> None:
    assert contrast.ratio(text, ground) == contrast.ratio(ground, text) == pytest.approx(expected, abs=0.01)


def test_the_least_pair_counts_and_is_never_rounded_up() -> None:
    assert contrast.of_hue(165) == Contrast(4.7, 7.2)
    least = min(contrast.ratio(LIGHT[text], LIGHT[ground], 165) for text, ground in PAIRS)
    assert 4.7 <= least < 4.8
