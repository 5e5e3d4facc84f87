"""The lock: what has no integrity, or came by another way than a registry's, is refused."""

import json
from typing import Any

import pytest

from webapp.errors import Invalid
from webapp.service.pieces import package_locks

GOOD = {"version": "1.0.0", "integrity": f"sha512-{'A' * 86}==", "license": {"type": "MIT"}}


def lock(path: str = "node_modules/@acme/x", **facts: Any) -> str:
    return json.dumps({"packages": {"": {"dependencies": {"@acme/x": "1.0.0"}}, path: {**GOOD, **facts}}})


def test_each_package_is_reported_with_its_integrity() -> None:
    (entry,) = package_locks.read(lock())
    assert (entry.name, entry.version, entry.licence, len(entry.sha512)) == ("@acme/x", "1.0.0", "MIT", 64)
    nested = package_locks.read(lock("node_modules/a/node_modules/@b/c", resolved="https://registry.example/c.tgz"))
    assert nested[0].name == "@b/c"
    needs = {"a": "^1.0.0 || >=2", "b": "npm:@c/d@^1", "e": "npm:f", "g": "latest"}
    assert package_locks.read(lock(dependencies=needs))[0].name == "@acme/x"
    assert json.loads(package_locks.root_manifest(lock()))["dependencies"] == {"@acme/x": "1.0.0"}


def test_a_lock_of_our_own_is_read_as_npm_reads_it() -> None:
    text = package_locks.whole("@acme/x", "2.0.0", "MIT", b"\1" * 64)
    entry = package_locks.find(package_locks.read(text), "@acme/x")
    assert (entry.version, entry.sha512) == ("2.0.0", b"\1" * 64)
    with pytest.raises(Invalid, match="does not name"):
        package_locks.find([entry], "@acme/y")


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"packages": [1]}', '{"packages": {"x": 1}}',
        lock(integrity=""), lock(integrity="sha1-abc="), lock(integrity="sha512-@@"), lock(link=True),
        lock(resolved="git+ssh://git@example.com/x.git#1"), lock(resolved="github:acme/x"),
        lock(dependencies={"y": "http://10.0.0.1/y.tgz"}), lock(dependencies={"y": "file:../y"}),
        lock(optionalDependencies={"y": "acme/y"}), lock(dependencies={"y": "npm:z@https://example.com/z.tgz"}),
        lock("../x"), lock("node_modules/../x"), lock("node_modules/.."), lock("/node_modules/x"), lock("x"),
        lock("node_modules/x/y"), lock("node_modules/x/node_modules/"),
    ],
)  # fmt: skip
def test_what_nobody_could_check_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        package_locks.read(text)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"packages": [1]}', '{"packages": {"": 1}}'])
def test_the_manifest_of_a_lock_that_cannot_be_read_says_so(text: str) -> None:
    with pytest.raises(Invalid, match="cannot be read as one that npm"):
        package_locks.root_manifest(text)


def test_what_an_author_works_on_needs_no_integrity() -> None:
    text = lock(integrity="", resolved="file:../x")
    assert package_locks.read(text, local="@acme/x")[0].sha512 == b""


def test_thousands_of_packages_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_locks, "MOST_PACKAGES", 0)
    with pytest.raises(Invalid, match="more than 0"):
        package_locks.read(lock())
