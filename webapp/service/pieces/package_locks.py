"""Reads the lock of a package, and refuses one in which a package has no integrity, or one that is not SHA-512.

A lock is ``package-lock.json`` as npm writes it (https://docs.npmjs.com/cli/configuring-npm/package-lock-json).
Packages from git, or from an address that is not a registry's, are refused as well. That a tarball has the integrity
that the lock names is checked in :mod:`webapp.service.pieces.npm_tarballs`.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from webapp.errors import Invalid
from webapp.service.pieces.packages import MODULES

LOCK, MANIFEST = "package-lock.json", "package.json"
ROOT = "patchbay-piece"
MOST_PACKAGES = 2_000
UNREADABLE = f"{LOCK} cannot be read as one that npm 7 or later wrote."
_OTHER_FORM = (RecursionError, ValueError, KeyError, TypeError, AttributeError)
_ALIAS = re.compile(r"npm:(@[^@:/]+/)?[^@:/]+(@[^:/]*)?")
_STEP = re.compile(r"(@[a-zA-Z0-9._~-]+/)?[a-zA-Z0-9_~-][a-zA-Z0-9._~-]*")


@dataclass(frozen=True, slots=True)
class Locked:
    """One package of a lock: its path, name, version and licence, and the SHA-512 of its tarball."""

    path: str
    name: str
    version: str
    licence: str
    sha512: bytes


def read(text: str | bytes, *, local: str = "") -> list[Locked]:
    """Return the packages of a lock. The package ``local`` may be from a local folder, without integrity.

    Raises :class:`Invalid`.
    """
    try:
        packages = [_locked(path, facts, local) for path, facts in json.loads(text)["packages"].items() if path]
    except _OTHER_FORM:
        raise Invalid(UNREADABLE) from None
    if len(packages) > MOST_PACKAGES:
        raise Invalid(f"It needs more than {MOST_PACKAGES:,} other packages; it is not added.")
    return packages


def whole(package: str, version: str, licence: str, sha512: bytes) -> str:
    """The lock of a package without dependencies."""
    entry = {"version": version, "integrity": f"sha512-{base64.b64encode(sha512).decode()}", "license": licence}
    root = {"name": ROOT, "dependencies": {package: version}}
    return json.dumps(
        {"name": ROOT, "lockfileVersion": 3, "packages": {"": root, f"{MODULES}/{package}": entry}}, indent=2
    )


def manifest(package: str, spec: str) -> str:
    """Return the ``package.json`` of the npm prefix that contains ``package``."""
    return json.dumps({"name": ROOT, "private": True, "dependencies": {package: spec}})


def root_manifest(text: str) -> str:
    """Return the ``package.json`` that matches the lock of a prefix; npm rejects the lock without it.

    Raises :class:`Invalid`.
    """
    try:
        needed = (json.loads(text)["packages"].get("") or {}).get("dependencies", {})
    except _OTHER_FORM:
        raise Invalid(UNREADABLE) from None
    return json.dumps({"name": ROOT, "private": True, "dependencies": needed})


def find(packages: list[Locked], package: str) -> Locked:
    """Return ``package`` from the lock. Raises :class:`Invalid` if it is not in it."""
    entry = next((each for each in packages if each.path == f"{MODULES}/{package}"), None)
    if entry is None:
        raise Invalid(f"The lock does not name {package}.")
    return entry


def _locked(path: str, facts: Mapping[str, Any], local: str) -> Locked:
    name = _name(path)
    resolved = str(facts.get("resolved", ""))
    if facts.get("link") or (resolved and not resolved.startswith(("https://", "http://", "file:"))):
        raise Invalid(f"It needs {name} from {resolved[:80] or 'a link'}, which is no registry; it is not added.")
    sha512 = _sha512(str(facts.get("integrity", "")))
    if len(sha512) != 64 and name != local:
        raise Invalid(f"The lock has no SHA-512 of {name}, so nobody could tell whether it is whole; it is not added.")
    _check_needs(facts)
    return Locked(path, name, str(facts["version"]), _licence(facts.get("license")), sha512)


def _check_needs(facts: Mapping[str, Any]) -> None:
    """Raise :class:`Invalid` if a dependency of a package is not from a registry."""
    for kind in ("dependencies", "optionalDependencies", "peerDependencies"):
        for name, spec in (facts.get(kind) or {}).items():
            if re.search("[:/]", spec) and not _ALIAS.fullmatch(spec):
                raise Invalid(f"It needs {name} from {spec[:80]}, which is no registry; it is not added.")


def _name(path: str) -> str:
    """The name of the package at ``path``. Raises :class:`Invalid` for a path outside of the prefix."""
    steps = PurePosixPath(path).as_posix().split(f"{MODULES}/")
    names = [step.rstrip("/") for step in steps[1:]]
    if steps[0] or not names or not all(_STEP.fullmatch(name) for name in names):
        raise Invalid(f"The lock names a place outside of {MODULES}; it is not taken.")
    return names[-1]


def _sha512(integrity: str) -> bytes:
    for each in integrity.split():
        kind, _, value = each.partition("-")
        if kind == "sha512":
            try:
                return base64.b64decode(value, validate=True)
            except binascii.Error:
                return b""
    return b""


def _licence(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("type", "")
    return value[:200] if isinstance(value, str) else ""
