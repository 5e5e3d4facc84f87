"""The rows of integrations: one process works on each, and who held it before writes nothing more."""

from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import adding, rows

NAME = "@activepieces/piece-shop"


def test_one_at_a_time_takes_it_up(service: Service) -> None:
    piece = adding.begin(service, NAME)
    claimed = rows.claim(service)
    assert claimed is not None
    assert (claimed.id, claimed.holder, claimed.turn) == (piece.id, service.generation, 1)
    assert rows.claim(service) is None


def test_what_a_dead_process_held_is_taken_up_by_the_next_and_the_dead_one_writes_nothing(service: Service) -> None:
    adding.begin(service, NAME)
    before = rows.claim(service)
    assert before is not None
    with service.store.write() as tx:
        rows.take_over(tx, service, service.generation)
    after = rows.claim(service)
    assert after is not None
    with service.store.write() as tx:
        assert not rows.change(tx, before, error="late")
        assert rows.change(tx, after, step=2)
    assert (rows.get(tx, after.id).step, rows.get(tx, after.id).error) == (2, "")


def test_versions_go_with_their_integration(service: Service, added: object) -> None:
    piece = added()  # type: ignore[operator]
    assert [each.version for each in rows.versions(service.store, piece.id)] == ["1.0.0"]
    with service.store.write() as tx:
        rows.delete(tx, piece)
    assert rows.versions(service.store) == []
