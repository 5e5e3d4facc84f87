"""Descriptions with links: only web addresses become links, everything else stays text."""

import pytest

from webapp.dashboard.rich import rich


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a <b> & c", "a &lt;b&gt; &amp; c"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("use `a<b`", "use <code>a&lt;b</code>"),
    ],
)
def test_plain_text(text: str, html: str) -> None:
    assert str(rich(text)) == html


def test_links() -> None:
    assert str(rich("See [the <docs>](https://a.test/?q=1&r=2).")) == (
        'See <a class="link" href="https://a.test/?q=1&amp;r=2" rel="noopener noreferrer" target="_blank">'
        "the &lt;docs&gt;</a>."
    )
    assert 'href="https://a.test/x"' in str(rich("at https://a.test/x."))
