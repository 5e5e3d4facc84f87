"""System calls by number: what comes back, and what is given up stays given up."""

import errno
import os
from pathlib import Path

import pytest

from tests.service.components.confinement.conftest import Forked
from webapp.service.components.confinement import kernel


def capabilities() -> dict[str, int]:
    lines = Path("/proc/self/status").read_text().splitlines()
    return {line[3:6]: int(line[8:], 16) for line in lines if line.startswith("Cap")}


def test_a_refused_call_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError) as caught:
        kernel.call(100_000)
    assert caught.value.errno == errno.ENOSYS
    with pytest.raises(OSError):
        kernel.prctl(100_000)
    with pytest.raises(OSError):
        kernel.unshare(-1)


def test_elsewhere_than_on_linux_every_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_libc", None)
    for refused in (lambda: kernel.call(1), lambda: kernel.prctl(1), lambda: kernel.unshare(0)):
        with pytest.raises(OSError, match="not Linux"):
            refused()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has something to give up")
def test_capabilities_are_given_up(forked: Forked) -> None:
    def work() -> list[int]:
        kernel.drop_bounding_set()
        kernel.keep_only(kernel.DAC_READ_SEARCH)
        kept = capabilities()
        kernel.keep_only(None)
        return [kept["Eff"], kept["Prm"], kept["Bnd"], kept["Inh"], capabilities()["Prm"]]

    assert forked(work) == [1 << kernel.DAC_READ_SEARCH, 1 << kernel.DAC_READ_SEARCH, 0, 0, 0]
