"""What commands begin with: limits in memory are shared where several processes count."""

import os
import signal
from collections.abc import Iterator

import pytest

from webapp.cli.serving.beginning import begin_process, web_children
from webapp.cli.serving.stopping import LEAVE
from webapp.service.domain.base import limit_counters
from webapp.settings import Settings


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    before = signal.getsignal(LEAVE)
    yield
    signal.signal(LEAVE, before)


@pytest.mark.parametrize(("processes", "shared", "names"), [(1, False, ["web"]), (2, True, ["web-1", "web-2"])])
def test_several_web_processes_share_limits_and_have_names(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, processes: int, shared: bool, names: list[str]
) -> None:
    for name in ("configure", "allocation"):
        monkeypatch.setattr(f"webapp.cli.serving.beginning.{name}", Quiet())
    monkeypatch.setattr(
        "webapp.cli.serving.beginning.settings_from_env",
        lambda port: Settings.from_env({"PATCHBAY_WEB": str(processes)}, data=settings.data),
    )
    signal.signal(LEAVE, signal.SIG_DFL)
    begun = begin_process(None)
    assert signal.getsignal(LEAVE) is not signal.SIG_DFL, "who asks for what is not there yet ends nothing"
    os.kill(os.getpid(), LEAVE)
    assert begun.limits_storage.startswith(limit_counters.SHARED) is shared
    children = web_children(begun, lambda stop, share: None)
    assert [child.name for child in children] == names and all(child.answers for child in children)


class Quiet:
    """Changes nothing of this process."""

    def __call__(self, *_: object, **__: object) -> None: ...

    def hold_little(self) -> None: ...

    def collect_rarely(self) -> None: ...
