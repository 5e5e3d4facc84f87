"""The paths that the process of a call may reach: the interpreter, the libraries and its component to read, and its
own folder to write."""

import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from webapp.service.components.confinement.landlock import Opened, Reach

_SYSTEM = (
    "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/libx32", "/usr/share",
    "/usr/local/bin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/share",
    "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone",
    "/etc/mime.types", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs",
    "/dev/urandom", "/dev/random", "/dev/zero", "/sys/devices/system/cpu",
)  # fmt: skip
_KINDS = ("actions", "triggers")


def of_call(component: Path | None, folder: Path, *, tcp: bool) -> Reach:
    """The reach of a call in ``folder`` of ``component``; None if :func:`of_component` adds that later."""
    beside = Reach(()) if component is None else of_component(component)
    return Reach(
        (*beside.readable, Path("/proc/self")),
        _opened(),
        listable=beside.listable,
        writable=(folder,),
        devices=(Path("/dev/null"),),
        tcp=tcp,
    )


def of_component(component: Path) -> Reach:
    """The reach that a call needs to load ``component``."""
    readable, listable = _of_component(component)
    return Reach(readable, listable=listable)


def of_program(program: Sequence[Path], files: Sequence[Path], folder: Path) -> Reach:
    """The reach of a process in ``folder`` that executes only ``program`` and reads ``files``."""
    system = tuple(Path(place) for place in _SYSTEM)
    read_only = (*system, *files, Path("/proc/self"))
    return Reach(tuple(program), read_only=read_only, writable=(folder,), devices=(Path("/dev/null"),))


@cache
def libraries() -> tuple[Path, ...]:
    """The libraries that every call may read: never their parent folders, which may also contain data."""
    paths = sysconfig.get_paths()
    python = Path(sys.executable)
    places = {
        *map(Path, _SYSTEM),
        *(Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        *(Path(sys.base_prefix, name) for name in ("lib", "bin")),
        python,
        python.resolve(),
        Path(sys.prefix, "pyvenv.cfg"),
        Path(__file__).parents[3],  # webapp
    }
    whole = {place.resolve() for place in places if place.exists()}
    return tuple(sorted(place for place in whole if not whole & {*place.parents}))


@cache
def _opened() -> tuple[Opened, ...]:
    return tuple(Opened.of(place) for place in libraries())


def prepare() -> None:
    """Open the libraries once for all later children."""
    _opened()


def _of_component(component: Path) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The readable and listable paths: its app's folder, or the folder of the operator's own components.

    For a file elsewhere: the file, and the Python files of the folder above.
    """
    above = component.parent.parent
    if above.name in _KINDS:
        return (above.parent,), ()
    if above.name == "components":
        return (above,), ()
    return (component.parent, *above.glob("*.py")), (above,)
