import pytest

from webapp.kit import moments

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
    moment = moments.moment(NOW - ago_s * 1000, NOW)
    assert moment.words == words
    assert moment.exact.endswith("UTC")


def test_moment_says_the_exact_time() -> None:
    assert moments.moment(NOW, NOW) == ("2027-01-15T08:00:00Z", "just now", "15 Jan 2027, 08:00:00 UTC")
