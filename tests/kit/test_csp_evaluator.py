"""Policies are read as browsers read them."""

from time import thread_time

import pytest

from webapp.kit import csp_evaluator
from webapp.kit.csp_evaluator import Use

PAGE, OURS = "https://app.example/settings", "https://connect.example/embed.js"


@pytest.mark.parametrize(
    ("policy", "use", "refused"),
    [
        ("", "frame", None),
        ("script-src 'self'", "frame", None),
        ("default-src 'self'", "frame", "default-src"),
        ("default-src 'self'; child-src https:", "frame", None),
        ("child-src https:; frame-src 'none'", "frame", "frame-src"),
        ("frame-src", "frame", "frame-src"),
        ("frame-src *", "frame", None),
        ("FRAME-SRC https://CONNECT.example", "frame", None),
        ("frame-src connect.example", "frame", None),
        ("frame-src http://connect.example", "frame", None),
        ("frame-src *.example", "frame", None),
        ("frame-src *.connect.example", "frame", "frame-src"),
        ("frame-src connect.example:8443", "frame", "frame-src"),
        ("frame-src connect.example:*", "frame", None),
        ("frame-src connect.example/embed.js", "frame", None),
        ("frame-src connect.example/emb", "frame", "frame-src"),
        ("frame-src data: blob:", "frame", "frame-src"),
        ("frame-src 'self'; frame-src *", "frame", "frame-src"),
        ("script-src 'self' 'unsafe-inline'", "script", "script-src"),
        ("script-src connect.example; script-src-elem 'self'", "script", "script-src-elem"),
        ("script-src https: 'strict-dynamic'", "script", "script-src"),
        ("connect-src wss: 'self'", "connect", "connect-src"),
        ("default-src *, connect-src 'self'", "connect", "connect-src"),
    ],
)
def test_what_a_policy_refuses(policy: str, use: Use, refused: str | None) -> None:
    refusal = csp_evaluator.refusal(csp_evaluator.parse(policy), use, OURS, PAGE)
    assert (refusal.directive if refusal else None) == refused


@pytest.mark.parametrize(
    ("policy", "use", "mended"),
    [
        ("default-src 'self'", "frame", "frame-src 'self' https://connect.example"),
        ("child-src 'none'", "frame", "child-src https://connect.example"),
        ("default-src 'none'", "script", "script-src https://connect.example"),
        ("connect-src 'self' https://api.example", "connect", "connect-src 'self' https://api.example https://connect.example"),
    ],
)  # fmt: skip
def test_what_it_has_to_say_instead(policy: str, use: Use, mended: str) -> None:
    refusal = csp_evaluator.refusal(csp_evaluator.parse(policy), use, OURS, PAGE)
    assert refusal and refusal.mended(use, "https://connect.example") == mended
    assert csp_evaluator.refusal(csp_evaluator.parse(mended), use, OURS, PAGE) is None


def test_a_page_with_the_same_origin_is_its_own() -> None:
    for page, url, own in (
        ("https://a.example/x", "https://a.example/embed.js", True),
        ("http://a.example/x", "https://a.example/embed.js", True),
        ("https://a.example/x", "https://a.example:8443/embed.js", False),
        ("http://localhost:5173/", "http://localhost:8600/embed.js", False),
    ):
        assert (csp_evaluator.refusal(csp_evaluator.parse("script-src 'self'"), "script", url, page) is None) == own


def test_a_nonce_is_reported() -> None:
    refusal = csp_evaluator.refusal(
        csp_evaluator.parse("script-src 'nonce-abc' 'strict-dynamic'"), "script", OURS, PAGE
    )
    assert refusal and refusal.nonce


META = '<meta http-equiv="Content-Security-Policy" content="{}">'


def test_policies_of_the_page_itself_count_while_they_stand_in_its_head() -> None:
    page = f"<head>{META.format('frame-src x.example; sandbox')}</head><body>{META.format('frame-src y.example')}"
    assert csp_evaluator.of_page(page) == [{"frame-src": ("x.example",)}]
    escaped = "<META content='frame-src &#39;self&#39;' HTTP-EQUIV=content-security-policy />"
    assert csp_evaluator.of_page(f"<!-- {META.format('frame-src z.example')} -->{escaped}") == [
        {"frame-src": ("'self'",)}
    ]
    assert csp_evaluator.of_page(f'<meta name="viewport" content="frame-src x"><![if IE]><!-- {META}') == []


@pytest.mark.parametrize(
    "part", ["a", "<!--", "<!---->", "<meta ", "<meta a", "a=", "<![", "<!", '<meta content="', "</", "\0"]
)
def test_a_hostile_page_costs_no_more_than_its_length(part: str) -> None:
    began = thread_time()
    whole = part * (512 * 1024 // len(part))
    for page in (whole, f"<meta {whole[:200_000]}>"):
        csp_evaluator.of_page(page)
    assert thread_time() - began < 0.1
