"""The ranks of the architecture: a module imports only lower ranks, and neighbours of one rank never meet.

Imports are read from the source, so that one inside a function counts too.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RANKS = {
    "webapp.kit": 1,
    "webapp.body_limits": 0,
    "webapp.content_security_policies": 0,
    "webapp.connect_token_facts": 0,
    "webapp.errors": 0,
    "webapp.setting_values": 0,
    "webapp.connection_limits": 0.4,
    "webapp.quotas": 0.5,
    "webapp.settings": 1.5,
    "webapp.frontend": 2,
    "webapp.static_files": 3,
    "webapp.store": 2,
    "webapp.service.outbound": 2,
    "webapp.service.components": 3,
    "webapp.audit": 3,
    "webapp.demo": 3,
    "webapp.service.catalog": 4,
    "webapp.people": 4,
    "webapp.service.pieces": 4.5,
    "webapp.service.directory": 4.6,
    "webapp.service.domain.base": 5.1,
    "webapp.service.domain.projects": 5.2,
    "webapp.service.domain.deliveries": 5.3,
    "webapp.service.domain.access": 5.4,
    "webapp.service.domain.accounts": 5.5,
    "webapp.service.domain.components": 5.6,
    "webapp.service.domain.agents": 5.65,
    "webapp.service.domain.triggers": 5.7,
    "webapp.service.domain.pieces": 5.75,
    "webapp.service.domain.logs": 5.77,
    "webapp.service.domain.instance": 5.8,
    "webapp.service.api": 6,
    "webapp.service.link": 6,
    "webapp.service.inbound": 6,
    "webapp.service.worker": 6,
    "webapp.service.mcp": 6.5,
    "webapp.dashboard": 7,
    "webapp.manual": 7,
    "webapp.sandbox": 7,
    "webapp.trusted_proxies": 8,
    "webapp.telemetry": 8,
    "webapp.app": 9,
    "webapp.cli": 10,
}
EMPTY = {"webapp", "webapp.service", "webapp.service.domain"}  # their __init__.py, which belongs to no unit
SOCKETS = {
    "aiohttp", "aiosmtpd", "asyncio", "ftplib", "http.client", "http.server", "httpx", "imaplib", "poplib", "psycopg",
    "requests", "smtplib", "socket", "socketserver", "telnetlib", "urllib.request", "urllib3", "websockets",
}  # fmt: skip
LOCAL = {  # Unix sockets between our processes
    "webapp.service.components.broker", "webapp.service.components.runner_connection",
    "webapp.service.components.confinement.namespaces",  # a loopback of one's own
    "webapp.service.components.relay", "webapp.service.components.warmup",
    "webapp.service.components.runner_job", "webapp.service.components.runner_process",
    "webapp.service.components.wire", "webapp.service.components.forks",
    "webapp.service.components.child_pipes",
    *(f"webapp.service.components.pieces.{name}" for name in (
        "channels",  # which outbound opens
        "conversation", "process_pool", "node_process",
    )),
}  # fmt: skip
LISTENERS = {  # the worker's own port for mail
    "webapp.service.worker.mail",
}  # fmt: skip
APPS = ROOT / "webapp" / "service" / "catalog" / "apps"
SHARED = ("webapp.service.catalog.shared.",)  # what the components of many apps share


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources() -> dict[str, Path]:
    """Every module; the files in the folders of apps are no modules but components, which the runner loads by path."""
    files = set((ROOT / "webapp").rglob("*.py")) - set(component_files())
    return {name_of(path): path for path in sorted(files)}


def component_files() -> list[Path]:
    return sorted(APPS.rglob("*.py"))


def unit_of(module: str) -> str | None:
    """The ranked package or module that ``module`` belongs to."""
    return next((unit for unit in RANKS if module == unit or module.startswith(unit + ".")), None)


def imports_of(module: str, path: Path) -> Iterator[str]:
    """Every module that ``path`` imports anywhere; ``from a import b`` counts as ``a.b`` when that is a module."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _above(imported: str) -> Iterator[str]:
    """The module of that name, and the packages that hold it."""
    parts = imported.split(".")
    yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))


MODULES = sources()


@cache
def edges() -> list[tuple[str, str]]:
    """Who imports whom."""
    return [(module, imported) for module, path in MODULES.items() for imported in imports_of(module, path)]


def test_every_module_has_a_rank() -> None:
    assert [module for module in MODULES if unit_of(module) is None and module not in EMPTY] == []


@pytest.mark.parametrize("module", [name for name, path in MODULES.items() if path.name == "__init__.py"])
def test_every_init_is_empty(module: str) -> None:
    assert MODULES[module].read_bytes() == b""


def test_a_module_imports_only_lower_ranks_and_never_a_neighbour() -> None:
    wrong = []
    for module, imported in edges():
        source, target = unit_of(module), unit_of(imported)
        if imported.split(".")[0] != "webapp" or source == target:
            continue
        if target is None or source is None or RANKS[target] >= RANKS[source]:
            wrong.append(f"{module} imports {imported}")
    assert wrong == []


def test_the_service_never_imports_the_dashboard_or_the_sandbox() -> None:
    """Said by the ranks already; kept on its own, because it outlives any change to them."""
    above = ("webapp.dashboard", "webapp.sandbox", "webapp.app", "webapp.cli")
    assert [edge for edge in edges() if edge[0].startswith("webapp.service") and edge[1].startswith(above)] == []


def test_the_dashboard_knows_the_service_as_an_http_api_only() -> None:
    mixed = [
        edge for edge in edges() if edge[0].startswith("webapp.dashboard") and edge[1].startswith("webapp.service")
    ]
    assert mixed == []


def test_the_sandbox_imports_neither_the_service_nor_the_store() -> None:
    inside = ("webapp.service", "webapp.store", "webapp.people", "webapp.dashboard")
    assert [edge for edge in edges() if edge[0].startswith("webapp.sandbox") and edge[1].startswith(inside)] == []


def test_inside_the_service_only_outbound_opens_sockets() -> None:
    wrong = []
    for module, imported in edges():
        if not module.startswith("webapp.service.") or module.startswith("webapp.service.outbound"):
            continue
        if module in LOCAL | LISTENERS:
            continue
        if set(_above(imported)) & SOCKETS:
            wrong.append(f"{module} imports {imported}")
    assert wrong == []


def test_a_component_knows_the_authoring_api_and_the_way_out_and_opens_no_socket() -> None:
    wrong = []
    for path in component_files():
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names += [f"{node.module}.{alias.name}" for alias in node.names]
            known = ("webapp.service.components.authoring", "webapp.service.outbound.", *SHARED)
            wrong += [
                f"{path.relative_to(APPS)} imports {name}"
                for name in names
                if (name.startswith("webapp") and not name.startswith(known)) or set(_above(name)) & SOCKETS
            ]
    assert wrong == []


def test_only_the_store_knows_its_database() -> None:
    above = [module for module in MODULES if RANKS.get(unit_of(module) or "", 0) > RANKS["webapp.store"]]
    drivers = ("sqlite3", "sqlite_utils")
    allowed = (  # catalog.db and directory.db; its own world; `check`
        "webapp.service.catalog", "webapp.service.directory", "webapp.sandbox", "webapp.cli",
    )  # fmt: skip
    wrong = [
        edge for edge in edges()
        if edge[0] in above and edge[1].startswith(drivers) and not edge[0].startswith(allowed)
    ]  # fmt: skip
    assert wrong == []


# Libraries that take long to import, and that few requests need.
WHEN_USED = {"webauthn", "zxcvbn"}


def test_importing_a_module_loads_nothing_above_it_and_no_library_that_is_imported_when_used() -> None:
    """Imports every module in the order of the ranks, in one fresh process, and looks at what came along."""
    ordered = sorted((RANKS[unit_of(name) or ""], name) for name in MODULES if name not in EMPTY)
    program = (
        "import importlib, sys\n"
        f"ranks = {RANKS!r}\n"
        "seen = set()\n"
        f"for rank, name in {ordered!r}:\n"
        "    if name.endswith('__main__'): continue\n"
        "    importlib.import_module(name)\n"
        "    for loaded in sys.modules.keys() - seen:\n"  # of what was there before, at a lower rank, none was above it
        "        unit = next((u for u in ranks if loaded == u or loaded.startswith(u + '.')), None)\n"
        "        if unit and ranks[unit] > rank: sys.exit(f'{name} loads {loaded}')\n"
        "    seen |= sys.modules.keys()\n"
        f"if early := seen & {WHEN_USED!r}: sys.exit(f'{{early}} loaded before use')\n"
    )
    found = subprocess.run([sys.executable, "-W", "error", "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")
