"""The worker: what is due is done in a turn, one failure stops nothing else, and it sleeps while nothing is due."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from webapp.kit.clock import DAY, HOUR, MINUTE, ClockMonitor
from webapp.service.domain.accounts import account_state, accounts, token_refresh
from webapp.service.worker import loop
from webapp.service.worker.chores import Chore


def one_turn(bench: Any, chores: list[Chore] | None = None) -> None:
    with ThreadPoolExecutor(2) as pool:
        loop.turn(bench.service, chores or [], pool)


def test_a_turn_refreshes_before_expiry_and_checks_what_is_due(bench: Any) -> None:
    account = bench.connect()
    one_turn(bench)
    assert bench.acme.token_calls == 0
    bench.clock.advance(56 * MINUTE)
    one_turn(bench)
    assert bench.acme.token_calls == 1
    calls = bench.acme.me_calls
    bench.clock.advance(7 * HOUR)
    one_turn(bench)
    assert bench.acme.me_calls == calls + 1
    assert accounts.get(bench.service.store, bench.scene, account.id).healthy


def test_one_dead_account_does_not_hold_up_another(bench: Any) -> None:
    dead = bench.connect(refresh_token="stolen")
    bench.clock.advance(MINUTE)
    alive = bench.connect()
    bench.clock.advance(HOUR)
    token_refresh.ensure_fresh(bench.service, alive)
    bench.clock.advance(HOUR)
    bench.acme.me_status = 200
    one_turn(bench)
    assert accounts.get(bench.service.store, bench.scene, dead.id).dead


def test_a_chore_that_fails_is_tried_again_in_its_time_and_stops_nothing(
    bench: Any, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    def broken(_: object) -> None:
        done.append("broken")
        raise RuntimeError("out of order")

    chores = [Chore("broken", MINUTE, broken), Chore("sound", MINUTE, lambda _: done.append("sound"))]
    one_turn(bench, chores)
    one_turn(bench, chores)
    assert done == ["broken", "sound"]
    assert "out of order" in caplog.text
    bench.clock.advance(MINUTE)
    one_turn(bench, chores)
    assert done == ["broken", "sound"] * 2


def test_it_sleeps_until_the_next_piece_is_due(bench: Any) -> None:
    assert loop.pause_s(bench.service) == loop.LONGEST_SLEEP_S
    bench.connect(expires_in=10)
    assert loop.pause_s(bench.service) == 8.0
    bench.clock.advance(HOUR)
    assert loop.pause_s(bench.service) == 0.2


def test_run_stops_on_request_and_wakes_at_once(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[int] = []
    turned = threading.Event()

    def count(*_: object) -> None:
        turns.append(1)
        turned.set()

    monkeypatch.setattr(loop, "turn", count)
    monkeypatch.setattr(loop, "RUNG_S", 0.0)
    stop, (near, far) = threading.Event(), os.pipe()
    thread = threading.Thread(target=loop.run, args=(bench.service.settings, stop, near))
    thread.start()
    try:
        for wanted in (1, 2, 3):
            assert turned.wait(5)
            turned.clear()
            assert len(turns) == wanted
            os.write(far, b"!")
    finally:
        stop.set()
        os.write(far, b"!")
        thread.join(5)
        os.close(near)
        os.close(far)
    assert not thread.is_alive()


def test_whoever_rings_wakes_the_engines_at_once_and_the_accounts_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "RUNG_S", 0.05)
    stop, (near, far) = threading.Event(), os.pipe()
    woken: list[float] = []

    def wake() -> None:
        woken.append(time.monotonic())
        if len(woken) < 5:
            os.write(far, b"!")

    os.write(far, b"!")
    began = time.monotonic()
    loop._rest(stop, near, 30.0, wake)
    assert len(woken) == 5 and woken[-1] - began < 0.05 <= time.monotonic() - began < 5
    os.close(near)
    os.close(far)


def test_a_turn_with_nothing_due_takes_no_write_lock(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.connect()
    monkeypatch.setattr(type(bench.service.store), "write", lambda _: pytest.fail("something was written"))
    one_turn(bench, [])


def test_a_clock_that_is_set_back_puts_no_chore_and_no_account_off(bench: Any) -> None:
    done: list[str] = []
    chores = [Chore("sound", MINUTE, lambda _: done.append("sound"))]
    bench.clock.advance(DAY)
    account = bench.connect()
    one_turn(bench, chores)
    with bench.service.store.write() as tx:
        tx.run("UPDATE accounts SET lease_until = :until", {"until": bench.clock.at + MINUTE})
    bench.clock.advance(-DAY)
    account_state.realign(bench.service)
    one_turn(bench, chores)
    assert done == ["sound"] * 2
    again = accounts.get(bench.service.store, bench.scene, account.id)
    assert (again.expires_at, again.lease_until) == (bench.clock.at + HOUR, 0)
    assert bench.clock.at < (again.next_refresh_at or 0) < bench.clock.at + HOUR
    assert (again.next_check_at or 0) <= bench.clock.at + 25 * HOUR


def test_a_clock_watch_notices_a_step_back_and_no_jitter() -> None:
    watch = ClockMonitor()
    found = [watch.is_set_back(now) for now in (10_000, 9_000, 8_000, 90_000, 87_999, 87_998)]
    assert found == [True, False, False, False, True, False]
