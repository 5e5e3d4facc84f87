"""The mark of a demo installation."""

from typing import Any

from webapp import demo


def test_an_installation_is_a_demo_once_it_is_marked(store: Any) -> None:
    assert not demo.is_demo(store)
    with store.write() as tx:
        demo.mark(tx, "Fernhollow", 1)
    assert demo.is_demo(store)
