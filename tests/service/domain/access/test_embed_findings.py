"""What stands between a page and the Connect Link, each with one line that mends it."""

import pytest

from webapp.service.domain.access import embed_findings
from webapp.service.domain.access.embed_findings import PageAnswer

SERVICE, ORIGIN = "https://connect.example", "https://app.example"


def verdicts(markup: str = "", status: int = 200, **headers: str) -> dict[str, tuple[str, str]]:
    lowered = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = PageAnswer(f"{ORIGIN}/mail", status, lowered, markup)
    return {finding.code: (finding.state, finding.remedy) for finding in embed_findings.of_answer(answer, SERVICE)}


def test_a_page_that_forbids_nothing() -> None:
    every = verdicts(x_frame_options="DENY", content_security_policy_report_only="default-src 'none'")
    assert every == dict.fromkeys(("opener", "frame", "script", "connect"), ("ok", ""))


def test_what_headers_forbid_comes_with_the_line_that_allows_it() -> None:
    strict = verdicts(
        content_security_policy="default-src 'self'", cross_origin_opener_policy="same-origin; report-to=x"
    )
    assert strict == {
        "opener": ("warn", "Cross-Origin-Opener-Policy: same-origin-allow-popups"),
        "frame": ("bad", "frame-src 'self' https://connect.example"),
        "script": ("bad", "script-src 'self' https://connect.example/embed.js"),
        "connect": ("warn", "connect-src 'self' https://connect.example"),
    }  # fmt: skip
    meta = '<meta http-equiv="content-security-policy" content="frame-src a.example">'
    assert verdicts(meta, content_security_policy="frame-src *")["frame"][0] == "bad"
    assert verdicts(content_security_policy="script-src 'nonce-1'")["script"][0] == "warn"


def test_what_few_pages_do() -> None:
    assert verdicts(cross_origin_embedder_policy="require-corp")["embedder"][0] == "bad"
    shut = verdicts(content_security_policy="sandbox allow-scripts allow-same-origin")
    assert shut["sandbox"] == ("bad", "sandbox allow-scripts allow-same-origin allow-popups")
    assert verdicts(status=403)["status"][0] == "warn"


@pytest.mark.parametrize(
    ("url", "service_url", "state"),
    [
        ("https://app.example/", SERVICE, "ok"),
        ("http://app.example/", SERVICE, "warn"),
        ("https://app.example/", "http://connect.example", "bad"),
        ("http://localhost:5173/", "http://localhost:8600", "ok"),
        ("https://app.example/", "http://localhost:8600", "ok"),
    ],
)
def test_encryption(url: str, service_url: str, state: str) -> None:
    origin, encryption = embed_findings.of_address(url, ORIGIN, [ORIGIN], service_url)
    assert (origin.state, encryption.state, bool(encryption.remedy)) == ("ok", state, state != "ok")


def test_an_origin_that_is_missing_is_named() -> None:
    finding = next(embed_findings.of_address("http://localhost:5173/", "http://localhost:5173", [ORIGIN], SERVICE))
    assert (finding.state, finding.remedy) == ("bad", "http://localhost:5173")
