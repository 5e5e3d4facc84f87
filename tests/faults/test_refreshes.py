"""Fault 6: fifty calls at once on an account whose token has expired cause one refresh. What becomes of it when its
holder is killed is among the situations of fault 8.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.world import World

CALLS, ROUNDS = 50, 3

pytestmark = pytest.mark.faults


def test_fifty_calls_cause_one_refresh(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    exchanges = []
    with ThreadPoolExecutor(CALLS) as pool:
        for _ in range(ROUNDS):
            path, before = f"/accounts/{world.connect()}?include_credentials=true", world.upstream.exchanges
            answers = list(pool.map(lambda _, path=path: world.ask("GET", path), range(CALLS)))
            given = {answer.json()["credentials"]["oauth_access_token"] for answer in answers}
            assert given == {f"a{world.upstream.exchanges}"}, "all got the new one"
            exchanges.append(world.upstream.exchanges - before)
    with capsys.disabled():
        print(f"\n{ROUNDS} times {CALLS} calls on an expired account caused {exchanges} refreshes", file=sys.stderr)
    assert exchanges == [1] * ROUNDS and not world.upstream.dead
