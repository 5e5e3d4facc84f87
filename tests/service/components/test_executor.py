"""Components of either kind behind one interface: code goes to the runner, data does not."""

from pathlib import Path

from webapp.service.components.calls import Call, Reply
from webapp.service.components.executor import Executor
from webapp.service.components.runner import Runner


class Asked(Runner):
    """A runner that only remembers."""

    def __init__(self) -> None:
        super().__init__(None)
        self.paths: list[str] = []

    def call(self, call: Call) -> Reply:
        self.paths.append(call.path)
        return Reply("code")


def test_code_goes_to_the_runner_and_data_does_not(tmp_path: Path) -> None:
    runner = Asked()
    with Executor(runner) as executor:
        assert executor.call(Call(str(tmp_path / "1.0.0.py"))).value == "code"
        reply = executor.call(Call(str(tmp_path / "a.toml")))
    assert reply.error is not None
    assert reply.error.kind == "load"
    assert runner.paths == [str(tmp_path / "1.0.0.py")]
