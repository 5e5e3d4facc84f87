"""The part of a Call that its process gets: the values, and the fields of its accounts that are not secret.

A component that needs the secrets themselves, for example for a database driver, declares ``reads_secrets = True`` as a
class attribute. That is read from the text of the file, before any of it runs.
"""

import ast
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from webapp.service.components.calls import AccountGrant, Call, Method
from webapp.service.components.limits import RUN_S
from webapp.service.components.masking import Mask

DECLARATION = "reads_secrets"
_PARSING = threading.Lock()
"""Python before 3.12.3 counts for all threads together how deep in a tree it is, and fails if they meet (gh-106905)."""


@dataclass(frozen=True, slots=True)
class AccountFields:
    """An account in the process of a call: the ``names`` of its fields, and the ``values`` that it may read."""

    names: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    base_url: str | None = None
    app: str = ""


@dataclass(frozen=True, slots=True)
class ChildCall:
    """A Call in its own process; the fields are those of :class:`calls.Call`."""

    path: str
    method: Method = "run"
    props: Mapping[str, Any] = field(default_factory=dict, repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    accounts: Mapping[str, AccountFields] = field(default_factory=dict)
    prop: str | None = None
    page: int = 0
    query: str | None = None
    previous: Mapping[str, Any] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict, repr=False)
    event: Any = field(default=None, repr=False)
    endpoint: str | None = None
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    stash: bool = False
    deadline_s: float = RUN_S

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "ChildCall":
        """The inverse of :func:`for_child`."""
        accounts = {name: AccountFields(**account) for name, account in fields["accounts"].items()}
        return cls(**{**fields, "accounts": accounts})


_SHARED = tuple(name for name in ChildCall.__slots__ if name != "accounts")


def for_child(call: Call) -> dict[str, Any]:
    """The part of ``call`` that its process gets, as JSON."""
    whole = reads_secrets(Path(call.path)) if call.accounts else False
    accounts = {name: _fields(grant, whole) for name, grant in call.accounts.items()}
    return {**{name: getattr(call, name) for name in _SHARED}, "accounts": accounts}


def reads_secrets(path: Path) -> bool:
    """Whether the component at ``path`` declares that it reads the secrets of its accounts."""
    try:
        return _reads_secrets(path, path.stat().st_mtime_ns)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # MemoryError: nested too deeply
        return False  # it cannot be loaded either


@lru_cache(maxsize=4096)
def _reads_secrets(path: Path, changed_at: int) -> bool:
    with _PARSING:
        classes = [node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.ClassDef)]
    return any(_declares(node) for each in classes for node in each.body)


def _declares(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    return DECLARATION in names and isinstance(value, ast.Constant) and value.value is True


def _fields(grant: AccountGrant, whole: bool) -> dict[str, Any]:
    secrets = () if whole else grant.values if grant.secrets is None else grant.secrets
    base_url = grant.base_url
    if base_url and not whole:
        base_url = Mask.of_account(grant)(base_url)
    return {
        "names": list(grant.values),
        "values": {name: value for name, value in grant.values.items() if name not in secrets},
        "base_url": base_url,
        "app": grant.app,
    }
