"""What ``make shape`` counts."""

from tests import shape


def test_rooms_are_counted_once_and_together() -> None:
    rooms = shape.rooms()
    everything = rooms.pop("all")
    assert "webapp/service/domain/accounts" in rooms
    assert "webapp/service/catalog/apps/sandbox" not in rooms
    assert tuple(map(sum, zip(*rooms.values(), strict=True))) == everything
