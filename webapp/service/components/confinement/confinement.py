"""Confines the processes of calls as far as the kernel of this machine allows, and reports which measures hold.

Irreversible measures are tried in a throw-away process, because a kernel may know a system call and still refuse it.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import orjson

from webapp.service.components import limits
from webapp.service.components.confinement import kernel, landlock, namespaces, readable_paths, seccomp, users
from webapp.service.components.confinement.landlock import Restriction


def works(attempt: Callable[[], object]) -> bool:
    """Whether ``attempt`` neither raises nor returns False."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = int(attempt() is False)
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure, and whether it holds on this machine."""

    name: str
    holds: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Confinement:
    """The measures that work here: the version of Landlock (0 for none), no network, a filter of system calls,
    processes counted by call, and the first user id for calls (None if all calls run as this user)."""

    landlock: int = 0
    network: bool = False
    filter: bool = False
    counted: bool = False
    first_user: int | None = None

    @classmethod
    def begin(cls) -> "Confinement":
        """Leave the network for good, for this process and its children, and find out which other measures work."""
        readable_paths.prepare()
        with suppress(OSError):
            kernel.make_inheritable(kernel.DAC_READ_SEARCH)
        with suppress(OSError):
            kernel.drop_bounding_set()
        version = landlock.version() if works(_restrict) else 0
        filters = seccomp.available() and works(_filter)
        left, user, reads_all = namespaces.leave(), users.first(), bool(version and filters)
        if user is not None and not works(partial(users.become, user, reads_all=reads_all)):
            user = None
        if user is not None and not reads_all and not users.readable_by_all(Path(os.__file__)):
            user = None  # its user could not read the libraries
        counted = user is not None or (left and os.geteuid() != 0 and works(namespaces.own_user_namespace))
        seccomp.prepare(own_user=user is not None)
        return cls(version, left, filters, counted, user)

    def restriction(self, component: Path | None, folder: Path, *, relay: bool) -> Restriction | None:
        """Return the Landlock restriction for a call of ``component`` (None if not yet known) in ``folder``.

        Call it while the runner's descriptors are open. Raises ``OSError``.
        """
        if not self.landlock:
            return None
        return Restriction(self.landlock, readable_paths.of_call(component, folder, tcp=relay))

    def enter(
        self, restriction: Restriction | None, slot: int, *, relay: bool = False, becomes_program: bool = False
    ) -> None:
        """Confine this process for good; no two running calls have the same ``slot``.

        With ``relay``, it has a loopback interface. With ``becomes_program``, the program that it executes keeps its
        capabilities and may start no processes. Raises ``OSError``.
        """
        self.change_user(slot, relay=relay, programs=becomes_program)
        self.seal(restriction, relay=relay, processes=not becomes_program)

    def change_user(self, slot: int, *, relay: bool = False, programs: bool = False) -> None:
        """Do the first half of :meth:`enter`, which does not depend on the call. Raises ``OSError``."""
        if not kernel.is_linux():
            return
        if relay and self.network:
            namespaces.own_loopback()
        self._change_user(slot, programs=programs)
        kernel.no_new_privileges()

    def seal(self, restriction: Restriction | None, *, relay: bool = False, processes: bool = True) -> None:
        """Do the second half of :meth:`enter`; all :meth:`measures` hold afterwards. Raises ``OSError``."""
        if not kernel.is_linux():
            return
        if restriction:
            restriction.enforce()
        if self.filter:
            seccomp.install(relay, processes=processes, own_user=self.first_user is not None)
        if self.counted:
            limits.limit_processes()

    def user(self, slot: int) -> int | None:
        """The user id of the call with this ``slot``; None for the user of this process."""
        return None if self.first_user is None else self.first_user + slot

    def report(self) -> list[dict[str, object]]:
        """The measures as JSON."""
        return [asdict(measure) for measure in self.measures()]

    def measures(self) -> tuple[Measure, ...]:
        """All measures, including those that do not hold here."""
        scoped = self.landlock >= landlock.SCOPES_VERSION
        return (
            _measure(
                "files", self.landlock > 0,
                "reads the interpreter, the libraries and its own files, and writes only its own folder",
                "can read and write what this user can, such as the key and the database; Linux 5.13 or later with "
                "Landlock switched on would keep it from that",
            ),
            _measure(
                "network", self.network and self.filter,
                "has no way to the network but requests that the service sends for it",
                "can open connections past the guard; a Linux that lets this user make network namespaces would "
                "keep it from that",
            ),
            _measure(
                "signals", scoped or self.first_user is not None,
                "can signal only processes of its own",
                "can end processes of this user, the service's too; Linux 6.12 or later would keep it from that",
            ),
            _measure(
                "processes", self.landlock > 0 or self.first_user is not None,
                "cannot look into other processes",
                "can read the environment of other processes of this user, with PATCHBAY_SECRET_KEY in it; Landlock "
                "would keep it from that",
            ),
            _measure(
                "count", self.counted,
                f"starts at most {limits.PROCESSES} processes",
                "may start as many processes as this user; a Linux that lets this user make user namespaces would "
                "keep it from that",
            ),
            _measure(
                "calls", self.filter,
                "cannot make the system calls that components never need",
                "may make every system call; there is a filter for 64-bit Intel, AMD and ARM processors",
            ),
            Measure(
                "programs", self.filter,
                "Code of an integration from npm starts no process."
                if self.filter
                else "Code of an integration from npm can start processes, which end with its own; the filter of "
                "system calls would keep it from that.",
            ),
        )  # fmt: skip

    def _change_user(self, slot: int, *, programs: bool) -> None:
        user = self.user(slot)
        reads_all = os.geteuid() == 0 and bool(self.landlock and self.filter)
        if user is not None:
            users.become(user, reads_all=reads_all, programs=programs)
            return
        if self.counted and not namespaces.own_user_namespace():
            raise OSError("no user namespace")
        kernel.keep_only(kernel.DAC_READ_SEARCH if reads_all else None, programs=programs)


def _restrict() -> None:
    kernel.no_new_privileges()
    Restriction(landlock.version(), landlock.Reach(())).enforce()


def _filter() -> None:
    kernel.no_new_privileges()
    seccomp.install(False)


def _measure(name: str, holds: bool, promise: str, otherwise: str) -> Measure:
    return Measure(name, holds, f"Code of a component {promise if holds else otherwise}.")


def look() -> list[Measure]:
    """The measures that a runner of this user would report. Raises ``OSError``."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, orjson.dumps(Confinement.begin().report()))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        output = pipe.read()
    os.waitpid(pid, 0)
    return [Measure(**fields) for fields in orjson.loads(output)]
