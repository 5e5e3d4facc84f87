"""The policies of what we answer begin with nothing, and a page's blanks are filled or left out."""

import pytest

from webapp import content_security_policies
from webapp.content_security_policies import of_page


def test_each_begins_with_nothing_and_allows_no_script_of_others() -> None:
    texts = [
        value
        for name, value in vars(content_security_policies).items()
        if name.isupper() and isinstance(value, str) and name[0] != "_"
    ]
    assert len(texts) == 5
    for policy in (*texts, of_page(nonce=None, images="https://p.example", frame_ancestors=())):
        assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "*" not in policy


@pytest.mark.parametrize(
    ("origins", "said"),
    [((), "frame-ancestors 'none'"), (("https://a.example", "https://b.example"),
     "frame-ancestors https://a.example https://b.example"), (None, None)],
)  # fmt: skip
def test_who_may_frame_a_page(origins: tuple[str, ...] | None, said: str | None) -> None:
    directives = of_page(nonce=None, images="", frame_ancestors=origins).split("; ")
    assert [each for each in directives if each.startswith("frame-ancestors")] == ([said] if said else [])


def test_what_a_page_needs_besides() -> None:
    plain = of_page(nonce=None, images="https://p.example", frame_ancestors=())
    assert "style-src 'self'; img-src 'self' data: https://p.example; " in plain and "form-action 'self'; " in plain
    more = of_page(nonce="n", images="", frame_ancestors=(), form_action=None, frame_src="https://f.example")
    assert "style-src 'self' 'nonce-n'; " in more and more.endswith("; frame-src https://f.example")
    assert "form-action" not in more and "frame-src" not in plain
