"""Making custom rate limits."""

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("window", "requests", "status"),
    [(1, 1, 200), (86_400, 1_000_000, 200), (0, 1, 400), (86_401, 1, 400), (1, 0, 400), (1, 1_000_001, 400),
     (1.5, 1, 400), ("60", 1, 400), (True, 1, 400), (None, 1, 400)],
)  # fmt: skip
def test_the_bounds_of_a_custom_limit(shared: Any, window: Any, requests: Any, status: int) -> None:
    body = {"window_size_seconds": window, "requests_per_window": requests}
    answer = shared.post("/v1/connect/rate_limits", shared.server(), json=body)
    assert answer.status_code == status
