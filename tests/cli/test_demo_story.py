"""The story of a demo: every state of every noun is there, spread over a month, and nothing is due in the past."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.ports import free_port
from tests.once.catalog import linked
from webapp import demo
from webapp.cli import demo_story
from webapp.cli.demo_story import DAYS, Login
from webapp.kit.clock import DAY, MINUTE, FakeClock
from webapp.kit.cursors import Window
from webapp.people import users
from webapp.service.domain.accounts import accounts, health
from webapp.service.domain.agents import approvals, sessions
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import runs
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.logs import logs
from webapp.service.domain.projects import projects, usage
from webapp.service.domain.projects.log_entries import STATUSES, LogFilter
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers
from webapp.settings import Settings

NOON = 1_800_014_400_000  # 12:00 UTC


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, built_catalog: Path) -> Iterator[tuple[Service, Login]]:
    """An installation after the story; telling it takes seconds, so once for all tests."""
    ports = {"PATCHBAY_PORT": str(free_port()), "PATCHBAY_SANDBOX_PORT": str(free_port())}
    data, clock = tmp_path_factory.mktemp("demo"), FakeClock(NOON)
    linked(built_catalog, data)
    settings = Settings.from_env(ports, data=data)
    service = open_service(settings, clock)
    try:
        login = demo_story.tell(service, clock)
        assert clock.at == NOON
        yield service, login
    finally:
        close_service(service)


@pytest.fixture
def service(told: tuple[Service, Login]) -> Service:
    return told[0]


@pytest.fixture
def scene(service: Service) -> Scene:
    project = projects.first(service.store)
    assert project is not None
    return Scene(project.id, "development")


def test_the_owner_can_sign_in_with_what_is_printed(told: tuple[Service, Login]) -> None:
    service, login = told
    person = users.authenticate(service.store, email=login.email, password=login.password)
    assert person is not None
    assert person.role == "owner"


def test_there_are_accounts_in_each_state(service: Service, scene: Scene) -> None:
    found = list(accounts.page(service.store, scene, accounts.Filter(), Window()).items)
    assert Counter((account.healthy, account.dead) for account in found) == {
        (True, False): 4, (False, False): 1, (False, True): 2,
    }  # fmt: skip
    assert all(account.error for account in found if not account.healthy)
    (troubled,) = [account for account in found if not account.healthy and not account.dead]
    assert min(troubled.next_check_at or 0, troubled.next_refresh_at or 0) > NOON + 30 * MINUTE  # long enough to look
    assert {account.external_id for account in found} == {*demo_story.CUSTOMERS, demo.VISITOR, _owner(service)}


def _owner(service: Service) -> str:
    (owner,) = users.all_users(service.store)
    return owner.id


def test_triggers_work_fail_and_were_switched_off(service: Service, scene: Scene) -> None:
    triggers = deployed_triggers.of_project(service.store, scene.project_id)
    assert Counter(trigger.active for trigger in triggers) == {True: 4, False: 1}
    (off,) = [trigger for trigger in triggers if not trigger.active]
    assert "was disconnected" in (off.switched_off or "")
    assert all((trigger.next_run_at or NOON) >= NOON - DAY for trigger in triggers)


def test_runs_and_logs_are_spread_over_the_month(service: Service, scene: Scene) -> None:
    found = list(runs.page(service.store, scene, runs.Filter(), Window(100, None, None)).items)
    assert {run.ok for run in found} == {True, False}
    assert {run.agent for run in found} >= {None, demo_story.AGENT}
    used = usage.hours(service.store, NOON - DAYS * DAY, NOON, project_id=scene.project_id)
    days = {row["usage_start_ts"] // 86_400 for row in used if row["credits_used"]}
    assert len(days) > 25


@pytest.mark.parametrize(
    ("kind", "statuses"),
    [
        ("run", {"succeeded", "failed"}),
        ("api_call", {"succeeded", "failed"}),
        ("event", {"succeeded"}),
        ("delivery", {"succeeded", "failed", "waiting"}),
        ("account", {"succeeded", "failed"}),
        ("agent", {"succeeded", "failed", "waiting"}),
    ],
)
def test_the_logs_have_entries_of_each_kind(service: Service, scene: Scene, kind: Any, statuses: set[Any]) -> None:
    filters = {status: LogFilter(scene, status=status) for status in STATUSES}
    pages = {
        status: logs.page(service.store, NOON, by_status, Window(5, None, None), kind=kind)
        for status, by_status in filters.items()
    }
    assert {status for status, page in pages.items() if page.entries} == statuses


def test_an_agent_has_a_history_and_a_call_that_waits(service: Service, scene: Scene) -> None:
    states = Counter(approval.state for approval in approvals.recent(service, scene, _owner(service)))
    assert states == {"waiting": 1, "refused": 1, "used": 1}
    ended = {
        session.name: session.ended_at is not None
        for session in sessions.of_user(service.store, scene, _owner(service))
    }
    assert ended == {demo_story.AGENT: False, demo_story.OTHER_AGENT: True}


def test_a_dead_account_stays_dead_when_it_is_checked(service: Service, scene: Scene) -> None:
    found = accounts.page(service.store, scene, accounts.Filter(), Window()).items
    for account in [account for account in found if account.dead]:
        assert health.check(service, account).dead
