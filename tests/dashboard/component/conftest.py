"""Components at the fake service, and an account to use them with."""

from typing import Any

import pytest

from tests.dashboard.fake_components import Studio, install


@pytest.fixture
def studio(stage: Any) -> Studio:
    """The components of the app of tasks, and alice's account there."""
    made = install(stage.connect)
    stage.connect.add_account(stage.alice.id, "tasks", name="Ada's tasks")
    return made
