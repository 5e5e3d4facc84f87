"""How limits stand, asked as the project."""

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.build import limits
from webapp.errors import Forbidden, NotFound


def test_they_are_read() -> None:
    recorder = Recorder({"data": [{"name": "tools", "limit": 3000, "used": 5}, {"limit": 1}]})
    (tools,) = limits.now(recorder) or ()
    assert (tools.name, tools.limit, tools.used) == ("tools", 3000, 5)
    assert recorder.calls == [("the project", "GET", "P/limits", {})]


@pytest.mark.parametrize("refusal", [NotFound(), Forbidden()])
def test_a_service_that_does_not_tell(refusal: Exception) -> None:
    assert limits.now(Recorder(refusal)) is None
