"""The contrast of the colours that our style sheets derive from a brand's hue, in light and dark themes.

Contrast is defined by WCAG 2.2 (1.4.3): from 1 to 21, where text needs 4.5. The colours are the tokens of
``static/css/patchbay/tokens.css`` in OKLCH (CSS Color 4), clipped to sRGB per channel, as browsers do.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

DEFAULT_HUE = 264
MAX_HUE = 360
ENOUGH = 4.5


class Tone(NamedTuple):
    """A colour in OKLCH. ``hue`` is in degrees; None is the brand's."""

    lightness: float
    chroma: float
    hue: float | None = None


LIGHT: Mapping[str, Tone] = {
    "accent": Tone(0.49, 0.19),
    "accent-strong": Tone(0.43, 0.18),
    "accent-ink": Tone(1, 0, 0),
    "accent-soft": Tone(0.972, 0.016),
    "surface": Tone(1, 0, 0),
    "bg": Tone(0.986, 0.002, 90),
}
DARK: Mapping[str, Tone] = {
    "accent": Tone(0.76, 0.12),
    "accent-strong": Tone(0.82, 0.1),
    "accent-ink": Tone(0.18, 0.03),
    "accent-soft": Tone(0.27, 0.05),
    "surface": Tone(0.215, 0.009, 270),
    "bg": Tone(0.18, 0.008, 270),
}
# Text and background: buttons, also while hovered; links; badges.
PAIRS = (
    ("accent-ink", "accent"), ("accent-ink", "accent-strong"), ("accent", "surface"), ("accent", "bg"),
    ("accent", "accent-soft"),
)  # fmt: skip


class Contrast(NamedTuple):
    """The lowest contrast of a brand's texts in each theme, rounded down to one decimal."""

    light: float
    dark: float


def of_hue(hue: float) -> Contrast:
    """The contrast of a brand with ``hue`` degrees."""
    return Contrast(_least(LIGHT, hue), _least(DARK, hue))


def ratio(text: Tone, ground: Tone, hue: float = 0) -> float:
    """The contrast of two colours, from 1 to 21; ``hue`` replaces a hue that is None."""
    darker, lighter = sorted((_luminance(text, hue), _luminance(ground, hue)))
    return (lighter + 0.05) / (darker + 0.05)


def _least(tones: Mapping[str, Tone], hue: float) -> float:
    return math.floor(min(ratio(tones[text], tones[ground], hue) for text, ground in PAIRS) * 10) / 10


def _luminance(tone: Tone, hue: float) -> float:
    red, green, blue = (min(max(channel, 0), 1) for channel in _linear_rgb(tone, hue))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear_rgb(tone: Tone, hue: float) -> tuple[float, float, float]:
    """CSS Color 4 section 10.2 and its sample code: OKLCH, OKLab, cone responses, linear sRGB."""
    angle = math.radians(hue if tone.hue is None else tone.hue)
    a, b = tone.chroma * math.cos(angle), tone.chroma * math.sin(angle)
    long = (tone.lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (tone.lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (tone.lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
