"""Files that actions send, by a place that a person wrote."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from webapp.service.catalog.shared.files import content_of
from webapp.service.components.authoring import ComponentError


@pytest.fixture
def context(tmp_path: Path) -> Any:
    (tmp_path / "a.csv").write_bytes(b"a,b")
    get: Callable[[str], Any] = lambda address: SimpleNamespace(body=address.encode())  # noqa: E731
    return SimpleNamespace(http=SimpleNamespace(get=get), files=SimpleNamespace(path=lambda name: tmp_path / name))


def test_a_place_is_an_address_or_a_file_of_the_stash(context: Any) -> None:
    assert content_of(context, "https://example.com/x/b.pdf?v=2") == ("b.pdf", b"https://example.com/x/b.pdf?v=2")
    assert content_of(context, "https://example.com") == ("example.com", b"https://example.com")
    assert content_of(context, "/tmp/a.csv") == ("a.csv", b"a,b")
    with pytest.raises(ComponentError, match=r"There is no file c\.csv"):
        content_of(context, "c.csv")
