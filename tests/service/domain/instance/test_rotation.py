"""New data keys: everything opens afterwards, in every process; nothing opens by the old ones; a kill loses nothing."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import load
from tests.fakes.provider import FakeProvider
from tests.once import stores
from webapp.errors import Conflict
from webapp.kit import crypto
from webapp.kit.clock import HOUR
from webapp.service.domain.accounts import account_state, accounts, attempts, credentials, oauth_apps, token_refresh
from webapp.service.domain.accounts.attempts import AttemptRequest
from webapp.service.domain.base.keyring import INSTANCE
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.domain.instance import rotation


def versions(service: Service) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in service.store.all("SELECT owner, version FROM data_keys ORDER BY owner, version"):
        found.setdefault(row["owner"], []).append(row["version"])
    return found


def sealed_values(service: Service) -> list[tuple[str, bytes]]:
    """Every sealed box with the additional data that it had under version 1 or 2."""
    found = []
    for column in rotation.COLUMNS:
        for row in service.store.all(column.page, {"after": "", "limit": 10_000}):
            box = row["sealed"] if row["version"] is not None else row["sealed"][2:]
            found += [(column.place(row["owner"], row["id"]).context(version), box) for version in range(1, 9)]
    return found


def opens_any(service: Service, key: bytes) -> bool:
    for context, box in sealed_values(service):
        try:
            crypto.open_sealed(key, box, context)
        except crypto.CannotOpen:
            continue
        return True
    return False


def chains_are_whole(service: Service, acme: FakeProvider) -> bool:
    """Whether accounts hold the newest refresh token, but for the one that each process was fetching as it died."""
    held, given = load.refresh_tokens(service), acme.grants or {}
    assert len(held) == len(load.every_account(service))
    return sum(given.get(name, 0) - number for name, number in held.items()) <= 2


def test_everything_is_sealed_anew_and_the_old_keys_open_nothing(bench: Any, open_bench: Callable[[], Any]) -> None:
    service, other = bench.service, open_bench().service
    account = bench.connect()
    client = oauth_apps.choose(service.store, bench.scene.project_id, "acme")
    assert client is not None
    shared = oauth_apps.add(service, app="acme", client_id="x", client_secret="canary-shared")
    attempt, _ = attempts.create(service, bench.token(), AttemptRequest("acme", fields={"subdomain": "canary"}))
    with service.store.write() as tx:
        kept = file_stash.keep(service, tx, bench.scene, "alice", None, "a.txt", "text/plain", b"canary-file")
    before = accounts.get(other.store, bench.scene, account.id)
    old = [other.keys._key(other.store, owner, version) for owner, version in
           ((bench.scene.project_id, 1), (INSTANCE, 2))]  # fmt: skip
    wrapped = [row["wrapped"] for row in service.store.all("SELECT * FROM data_keys WHERE NOT (version = 1 AND owner "
                                                           "= 'instance')")]  # fmt: skip
    assert all(opens_any(service, key) for key in old)

    report = rotation.rotate(service)

    assert (report.resumed, report.unreadable) == (False, 0)
    sealed = {"accounts": 1, "provider_clients": 3, "connect_attempts": 1, "stashed_files": 1}
    assert {table: n for table, n in report.resealed.items() if table in sealed} == sealed
    assert versions(service) == {bench.scene.project_id: [2], INSTANCE: [1, 3]}
    assert not any(opens_any(service, key) for key in old)
    for one in (service, other, open_bench().service):
        assert credentials.read(one, accounts.get(one.store, bench.scene, account.id))["oauth_refresh_token"] == "r0"
        assert oauth_apps.secret(one, oauth_apps.get(one.store, client.id)) == "s"
        assert oauth_apps.secret(one, oauth_apps.get(one.store, shared.id)) == "canary-shared"
        assert attempts.unsealed(one, attempts.get(one.store, attempt.id))["fields"] == {"subdomain": "canary"}
        assert file_stash.find(one, bench.scene, kept)[1] == b"canary-file"
    after = accounts.get(service.store, bench.scene, account.id)
    assert (after.revision, after.updated_at) == (before.revision, before.updated_at)
    service.store.checkpoint()
    raw = (service.settings.data / "patchbay.db").read_bytes()
    assert not any(one in raw for one in wrapped), "the old keys are still in the file"


def test_whoever_read_a_row_before_reads_it_again_when_its_key_is_gone(
    bench: Any, open_bench: Callable[[], Any]
) -> None:
    account, other = bench.connect(), open_bench().service
    client = oauth_apps.choose(other.store, bench.scene.project_id, "acme")
    assert client is not None
    attempt, _ = attempts.create(bench.service, bench.token(), AttemptRequest("acme", fields={"subdomain": "canary"}))
    rotation.rotate(bench.service)
    assert other.keys._keys.keys().isdisjoint({(bench.scene.project_id, 1)}), "it has never opened anything"
    assert credentials.read(other, account)["oauth_access_token"] == "a0"
    assert oauth_apps.secret(other, client) == "s"
    assert attempts.unsealed(other, attempt)["fields"] == {"subdomain": "canary"}


def test_a_refresh_under_way_is_neither_lost_nor_overwritten(bench: Any, open_bench: Callable[[], Any]) -> None:
    account, other = bench.connect(), open_bench().service
    bench.clock.advance(2 * HOUR)
    claimed = account_state.claim_refresh(other, account)  # it has its lease, and talks to the provider
    assert claimed is not None
    rotation.rotate(bench.service)
    after = token_refresh._exchange(other, claimed)
    assert (after.revision, after.credentials_key) == (account.revision + 1, 2)
    assert credentials.read(bench.service, after)["oauth_refresh_token"] == "r1"


def test_a_refresh_between_two_batches_keeps_its_tokens(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    service, made = bench.service, [bench.connect(refresh_token=f"g{n}.0") for n in range(6)]
    bench.acme.grants = {}
    monkeypatch.setattr(rotation, "BATCH", 2)
    walk = rotation._reseal

    def reseal(*args: Any) -> None:
        walk(*args)
        monkeypatch.setattr(rotation, "_reseal", walk)
        monkeypatch.setattr(time, "sleep", lambda _: [token_refresh.refresh(service, one) for one in made])

    monkeypatch.setattr(rotation, "_reseal", reseal)
    rotation.rotate(service)
    held = {credentials.read(service, one)["oauth_refresh_token"] for one in load.every_account(service).values()}
    assert held == {f"g{n}.{bench.acme.grants[f'g{n}']}" for n in range(6)}


def test_an_interrupted_rotation_is_finished_by_the_next(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        bench.connect()
    monkeypatch.setattr(rotation, "BATCH", 2)
    monkeypatch.setattr(time, "sleep", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        rotation.rotate(bench.service)
    monkeypatch.undo()
    assert versions(bench.service)[bench.scene.project_id] == [1, 2]
    report = rotation.rotate(bench.service)
    assert report.resumed and report.resealed["accounts"] == 3
    assert versions(bench.service) == {bench.scene.project_id: [2], INSTANCE: [1, 3]}
    assert not rotation.rotate(bench.service).resumed


def test_a_damaged_value_is_counted_and_does_not_stop_it(bench: Any) -> None:
    good, bad = bench.connect(), bench.connect()
    with bench.service.store.write() as tx:
        tx.run("UPDATE accounts SET credentials_sealed = :x WHERE id = :id", {"x": b"x" * 40, "id": bad.id})
    assert rotation.rotate(bench.service).unreadable == 1
    assert credentials.read(bench.service, accounts.get(bench.service.store, bench.scene, good.id))


def test_two_at_once_are_refused(bench: Any) -> None:
    with rotation._one_at_a_time(bench.service.settings.data / ".rotating"), pytest.raises(Conflict, match="already"):
        rotation.rotate(bench.service)


def test_no_sealed_column_is_forgotten(bench: Any) -> None:
    columns = {(table, column) for table, column in stores.columns(bench.service.store) if column.endswith("sealed")}
    known = {(column.table, column.column) for column in rotation.COLUMNS}
    assert columns == known


@pytest.mark.embedded
@pytest.mark.faults
def test_rotating_twice_while_two_processes_connect_and_refresh(data: Path, acme: FakeProvider) -> None:
    load.furnish(data, acme)
    env = load.environment(data, acme)
    with load.opened(env) as service:
        old = service.keys._key(service.store, load.scene_of(service).project_id, 1)
    with load.load(env) as told:
        told.wait_for_more(5)
        for _ in range(2):
            done = load.patchbay(env, "keys", "rotate", "--json")
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["unreadable"] == 0
            told.wait_for_more(5)
    with load.opened(env) as service:
        assert versions(service) == {load.scene_of(service).project_id: [3], INSTANCE: [1, 4]}
        assert set(told.connected) <= set(load.every_account(service)) and told.refreshed
        assert not opens_any(service, old)
        assert chains_are_whole(service, acme)


SLOW = """
import sys, time, types
from webapp.service.domain.instance import rotation
rotation.BATCH = 3
rotation.time = types.SimpleNamespace(
    monotonic=time.monotonic, sleep=lambda _: (print("batch", flush=True), time.sleep(0.05))
)
from webapp.cli.main import main
main(["keys", "rotate"])
"""


@pytest.mark.embedded
@pytest.mark.faults
def test_killed_in_the_middle_it_resumes_and_nothing_is_lost(data: Path, acme: FakeProvider) -> None:
    load.furnish(data, acme)
    env = load.environment(data, acme)
    with load.load(env) as told:
        told.wait_for_more(20)
        for batches in (1, 3):
            command = [sys.executable, "-c", SLOW]
            with subprocess.Popen(command, env=env, cwd=load.ROOT, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                for _ in range(batches):
                    assert process.stdout.readline() == "batch\n"
                process.send_signal(signal.SIGKILL)
            told.wait_for_more(2)
        done = load.patchbay(env, "keys", "rotate", "--json")
        assert json.loads(done.stdout)["resumed"] is True, done.stderr
        told.wait_for_more(2)
    with load.opened(env) as service:
        assert versions(service) == {load.scene_of(service).project_id: [2], INSTANCE: [1, 3]}
        assert set(told.connected) <= set(load.every_account(service))
        assert not any(account.dead for account in load.every_account(service).values())
        assert chains_are_whole(service, acme)


def test_rows_that_come_in_before_a_page_is_locked_push_none_out_of_the_walk(bench: Any, monkeypatch: Any) -> None:
    """With as many rows as a page holds, a new row in the middle moves the last one to the next page."""
    made = [bench.connect() for _ in range(12)]
    write = type(bench.service.store).write
    busy: list[bool] = []

    def after_somebody_else(store: Any) -> Any:
        if not busy and len(made) < 60:
            busy.append(True)
            made.append(bench.connect())
            busy.clear()
        return write(store)

    monkeypatch.setattr(rotation, "BATCH", 5)
    monkeypatch.setattr(type(bench.service.store), "write", after_somebody_else)
    rotation.rotate(bench.service)
    monkeypatch.undo()
    assert len(made) > 12
    for account in made:
        kept = accounts.get(bench.service.store, bench.scene, account.id)
        assert kept.credentials_key == 2 and credentials.read(bench.service, kept)["oauth_access_token"]
