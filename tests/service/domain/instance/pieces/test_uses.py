"""What integrations are used for."""

from collections import Counter
from typing import Any

from tests.service.domain.instance.pieces.conftest import CONTENTS
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import uses
from webapp.service.domain.instance.pieces.uses import Uses


def test_what_nobody_uses_has_no_words(service: Service, added: Any) -> None:
    piece = added()
    counts = uses.of(service.store, [CONTENTS])
    assert (counts.accounts, counts.triggers, counts.sentence) == (0, 0, "")
    assert uses.pinned(service.store, piece) == set()


def test_accounts_and_triggers_are_counted_in_words() -> None:
    assert Uses(4, Counter({"1.0.0": 1, "1.1.0": 1})).sentence == "4 accounts, 2 triggers"
    assert Uses(0, Counter({"1.0.0": 1})).sentence == "1 trigger"
