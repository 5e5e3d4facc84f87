"""What reaches the process of a call: no secret of an account, unless the component declares that it reads them."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest

from webapp.service.components.calls import AccountGrant, Call
from webapp.service.components.child_calls import ChildCall, for_child, reads_secrets

GRANT = AccountGrant(
    {"key": "canary-key", "region": "eu"}, "https://api.example/canary-key/x", {"X-Key": "canary-key"}, secrets=("key",)
)


def arrived(path: Path, grant: AccountGrant = GRANT) -> tuple[ChildCall, str]:
    """What arrives there, and its text."""
    call = Call(path=str(path), method="options", accounts={"a": grant}, prop="x", page=2, mask=("canary-mask",))
    text = orjson.dumps(for_child(call))
    return ChildCall.from_json(orjson.loads(text)), text.decode()


def test_the_open_fields_of_an_account_arrive_and_the_names_of_all(tmp_path: Path) -> None:
    call, text = arrived(tmp_path / "absent.py")
    assert (call.method, call.prop, call.page, call.deadline_s) == ("options", "x", 2, 30.0)
    assert list(call.accounts["a"].names) == ["key", "region"]
    assert call.accounts["a"].values == {"region": "eu"}
    assert call.accounts["a"].base_url == "https://api.example/••••••/x"
    assert "canary" not in text
    closed, text = arrived(tmp_path / "absent.py", AccountGrant({"key": "canary-key"}))
    assert closed.accounts["a"].values == {} and "canary" not in text


def test_a_component_that_declares_it_gets_the_secrets(tmp_path: Path) -> None:
    path = tmp_path / "1.0.0.py"
    path.write_text("class A:\n    reads_secrets = True\n")
    call, text = arrived(path)
    assert call.accounts["a"].values == GRANT.values
    assert call.accounts["a"].base_url == GRANT.base_url
    assert "canary-mask" not in text


@pytest.mark.parametrize(
    ("source", "declared"),
    [
        ("class A:\n    reads_secrets: bool = True", True),
        ("class A:\n    reads_secrets = False", False),
        ("class A:\n    reads_secrets = not False", False),
        ("class A:\n    def run(self):\n        reads_secrets = True", False),
        ("reads_secrets = True", False),
        ('class A:\n    "reads_secrets = True"', False),
        ("class (", False),
        ("\0", False),
    ],
)
def test_the_declaration_is_read_from_the_text(tmp_path: Path, source: str, declared: bool) -> None:
    path = tmp_path / "1.0.0.py"
    path.write_text(source)
    assert reads_secrets(path) is declared


def test_a_text_that_python_cannot_read_to_its_end_declares_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("class A:\n    reads_secrets = True\n    x = " + "-" * 100_000 + "1\n")
    assert not reads_secrets(path)


def test_threads_may_read_files_at_once(tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.py" for n in range(200)]
    for path in paths:
        path.write_text(f"class A:\n    reads_secrets = True\n    rows = {[[[0]] * 9] * 9}\n")

    def let_others_on(*_: object) -> None:
        time.sleep(0)

    usual = gc.get_threshold()
    gc.callbacks.append(let_others_on)
    gc.set_threshold(20, *usual[1:])
    try:
        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(reads_secrets, paths))
    finally:
        gc.set_threshold(*usual)
        gc.callbacks.remove(let_others_on)
