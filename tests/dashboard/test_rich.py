"""Descriptions with links: only web addresses become links, everything else stays text."""

import pytest

from webapp.dashboard.rich import json_html, rich


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


def test_json_is_coloured_and_can_do_no_harm() -> None:
    shown = str(json_html({"a <b>": 'say "hi" \\ & go', "n": [1, None, True]}))
    assert '<span class="k">&#34;a &lt;b&gt;&#34;</span>: ' in shown
    assert '<span class="s">&#34;say \\&#34;hi\\&#34; \\\\ &amp; go&#34;</span>,' in shown
    assert "<b>" not in shown and shown.count("<span") == 3
    assert len(json_html("x" * 50, 20).striptags()) <= 20


def test_links() -> None:
    assert str(rich("See [the <docs>](https://a.test/?q=1&r=2).")) == (
        'See <a class="link" href="https://a.test/?q=1&amp;r=2" rel="noopener noreferrer" target="_blank">'
        "the &lt;docs&gt;</a>."
    )
    assert 'href="https://a.test/x"' in str(rich("at https://a.test/x."))
