"""The kinds of databases by their names."""

from webapp.service.outbound.databases.engines import ENGINES


def test_each_kind_has_its_usual_port() -> None:
    assert {name: engine().DEFAULT_PORT for name, engine in ENGINES.items()} == {"mysql": 3306, "postgres": 5432}
