"""What the command prints of integrations."""

from collections.abc import Iterator

import pytest

from tests.service.domain.instance.pieces.planted import plant
from webapp.cli.commands.piece_facts import facts_of, tell
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.instance.pieces import listing
from webapp.settings import Settings


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    opened = open_service(settings)
    yield opened
    close_service(opened)


def test_what_is_left_out_and_what_changes_is_told(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    piece = plant(service, state="ready", wanted="2.0.0", step=3)
    view = listing.find(service, piece.id)
    tell([view], as_json=False, what="would be so")
    printed = capsys.readouterr()
    assert printed.out.startswith("The integration Shop would be so.\n")
    assert "Wait is left out: It needs waitpoints" in printed.err
    assert "Find order is gone." in printed.err
    assert facts_of(view)["licence"] == "MIT"
