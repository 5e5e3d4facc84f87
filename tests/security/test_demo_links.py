"""Demo links: what a stranger with one may do, and that there is nothing at all without one, or in another folder."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.demos import TOKEN, Demo, demo_over
from tests.fakes.ports import free_port
from tests.once.catalog import linked
from webapp import body_limits, demo
from webapp.kit.clock import DAY, HOUR, MINUTE, FakeClock
from webapp.settings import Settings

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
FORM = "/apps/sandbox/actions/sandbox-find-tasks"


@pytest.fixture
def settings(data: Path, migrated: Path, built_catalog: Path) -> Settings:
    shutil.copy(migrated, data)
    linked(built_catalog, data)
    return Settings.from_env({"PATCHBAY_SANDBOX_PORT": str(free_port())}, data=data)


@pytest.fixture
def stage(settings: Settings, clock: FakeClock) -> Iterator[Demo]:
    with demo_over(settings, clock) as opened:
        yield opened


def answer_of(stage: Demo, path: str, method: str) -> tuple[Any, ...]:
    """All of an answer but what differs between any two: ids and nonces."""
    answer = stage.ask(path, method)
    text = re.sub(r'(nonce=|value=|X-CSRFToken": |csrf-token)"[^"]*"', r'\1""', answer.text).replace(path, "PATH")
    left_out = ("Date", "Set-Cookie", "X-Request-Id", "Content-Length")
    headers = {name: value for name, value in answer.headers.items() if name not in left_out}
    headers["Content-Security-Policy"] = re.sub(r"'nonce-[^']*'", "", headers["Content-Security-Policy"])
    names = sorted(answer.headers.keys())
    return answer.status_code, text, sorted(headers.items()), names


@pytest.mark.parametrize("method", METHODS)
def test_elsewhere_the_address_of_a_link_is_absent(settings: Settings, clock: FakeClock, method: str) -> None:
    with demo_over(settings, clock, marked=False) as stage:
        path = stage.links.create("sandbox-find-tasks")
        assert answer_of(stage, path, method) == answer_of(stage, path.replace("/demo/", "/memo/"), method)
        assert answer_of(stage, path, method)[0] == 404


def bad_links(stage: Demo) -> dict[str, str]:
    good = stage.links.create("sandbox-find-tasks")
    payload, _, signature = good.rpartition(".")
    other = replace(stage.links, key=b"another installation's key")
    return {
        "forged": f"{payload}.{signature[::-1]}",
        "unsigned": payload,
        "of another folder": other.create("sandbox-find-tasks"),
        "for a component of no link": stage.links.create("sandbox-delete-task"),
        "for another app": stage.links.create("github-create-issue"),
        "expired": replace(stage.links, clock=FakeClock(stage.service.clock() - DAY)).create("sandbox-find-tasks"),
        "nonsense": "/demo/x",
    }


def test_a_link_that_does_not_work_is_answered_like_an_absent_page(stage: Demo) -> None:
    for why, path in bad_links(stage).items():
        for method in METHODS:
            absent = path.replace("/demo/", "/memo/")
            assert answer_of(stage, path, method) == answer_of(stage, absent, method), (why, method)


def test_a_link_takes_nothing_but_an_opening(stage: Demo) -> None:
    path = stage.links.create("sandbox-find-tasks")
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        assert stage.ask(path, method).status_code == 404
    preview = stage.ask(path, "HEAD")
    assert (preview.status_code, preview.headers.get("Location")) == (200, None)


def test_only_its_form_is_there_and_no_cookie(stage: Demo) -> None:
    page = stage.opened()
    base = page.removesuffix(FORM)
    shown = stage.ask(page)
    assert shown.status_code == 200
    assert "Set-Cookie" not in shown.headers
    assert shown.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert shown.headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in shown.headers["Content-Security-Policy"]
    for secret in (TOKEN, "ctok_"):
        assert secret not in shown.text
    for path in (
        "/", "/apps", "/apps/sandbox", "/accounts", "/triggers", "/logs", "/agents", "/settings", "/build/keys",
        "/apps/sandbox/actions/sandbox-delete-task", "/apps/sandbox/actions/sandbox-create-task",
        "/apps/sandbox/triggers/sandbox-new-task", f"{FORM}/runs/run_1", f"{FORM}/runs/run_1/again",
        f"{FORM}/runs/run_1/entry", f"{FORM}/runs/news", f"{FORM}/runs/run_1/result.json", "/v1/connect/apps",
        f"/apps/github/actions/{FORM.rpartition('/')[2]}",
    ):  # fmt: skip
        assert stage.ask(f"{base}{path}").status_code == 404, path
    for path in (f"{FORM}/accounts", f"{FORM}/files/x", f"{FORM}/removed_files", f"{FORM}/runs/run_1/values"):
        assert stage.ask(f"{base}{path}", "POST").status_code == 404, path
    for handle in (base, base.removeprefix("/portal/")):
        renewed = stage.ask("/portal/renewal", "POST", data={"handle": handle, "token": "ctok_x"})
        assert renewed.status_code in (403, 404)


def test_a_form_of_another_site_and_a_large_one_are_refused(stage: Demo) -> None:
    page = stage.opened()
    foreign = stage.ask(f"{page}/runs", "POST", data={"p.text": "x"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code in (403, 404)
    large = stage.ask(f"{page}/draft", "POST", data={"p.text": "x" * body_limits.DEMO_FORM})
    assert large.status_code == 413


def test_another_account_cannot_be_chosen(stage: Demo) -> None:
    from tests.fakes.user_data import plant_account

    foreign = plant_account(stage.service, stage.scene, "customer", "sandbox", {"oauth_access_token": "secret"})
    answer = stage.ask(f"{stage.opened()}/runs", "POST", data={"d": "account", "p.account": foreign.id})
    assert answer.status_code == 422
    assert foreign.id not in answer.text


def test_runs_are_limited_in_a_minute_and_the_next_opening_is_the_same_link(stage: Demo, clock: FakeClock) -> None:
    link = stage.links.create("sandbox-find-tasks")
    pages = [str(stage.ask(link).headers["Location"]) for _ in range(2)]
    assert pages[0] != pages[1]
    per_minute, _ = demo.LIMITS["run"]
    invalid = {"d": "limit", "p.limit": "many"}  # refused by its form, and counted all the same
    statuses = [stage.ask(f"{pages[n % 2]}/runs", "POST", data=invalid).status_code for n in range(per_minute)]
    assert set(statuses) == {422}
    throttled = stage.ask(f"{pages[0]}/runs", "POST", data=invalid)
    assert throttled.status_code == 503
    assert 0 < int(throttled.headers["Retry-After"]) <= 60
    clock.advance(MINUTE)
    assert stage.ask(f"{pages[0]}/runs", "POST", data=invalid).status_code == 422


def test_visitors_see_nothing_of_each_other(stage: Demo) -> None:
    link = stage.links.create("sandbox-find-tasks")
    one, two = (str(stage.ask(link).headers["Location"]) for _ in range(2))
    stage.ask(f"{one}/draft", "POST", data={"d": "text", "p.text": "what only one typed"})
    stage.ask(f"{one}/runs", "POST", data={"d": "text", "p.text": "what only one typed"})
    assert "what only one typed" in stage.ask(one).text
    assert "what only one typed" not in stage.ask(two).text
    assert "Earlier runs" not in stage.ask(one).text


def test_a_session_ends_like_an_absent_page(stage: Demo, clock: FakeClock) -> None:
    page = stage.opened()
    clock.advance(4 * HOUR)
    assert stage.ask(page).status_code == 404
    assert stage.ask(f"{page}/runs", "POST").status_code == 404


def test_openings_are_limited(stage: Demo) -> None:
    link = stage.links.create("sandbox-find-tasks")
    for _ in range(demo.LIMITS["opening"][0]):
        assert stage.ask(link).status_code == 303
    assert stage.ask(link).status_code == 503
