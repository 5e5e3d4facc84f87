"""The public directory as the dashboard's client knows it: what is missing is lenient, and a service may have none."""

from typing import Any, cast

import pytest

from webapp.dashboard.client.build.directory import Directory, DirectoryClient, DirectoryFacts
from webapp.dashboard.client.connect import ConnectClient
from webapp.errors import Forbidden, NotFound


class Service:
    """Answers once, or refuses."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, list[Any]()

    def as_project(self, method: str, path: str, *, params: dict[str, Any]) -> Any:
        self.asked.append((method, path, params))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def search(service: Service) -> Directory | None:
    return DirectoryClient(cast(ConnectClient, service)).search("acme", 7)


def test_documents_and_facts_are_read_leniently() -> None:
    service = Service({"data": [{"name": "acme.io"}, {"name": ""}], "directory": {"added_at": "2026-11-28T00:00:00Z"}})
    directory = search(service)
    assert directory is not None and directory.facts is not None
    assert [(each.title, each.operations, each.app) for each in directory.items[:1]] == [("acme.io", 0, "")]
    assert directory.facts.date == "2026-11-28T00:00:00Z"
    assert service.asked == [("GET", "/v1/directory", {"q": "acme", "limit": 7})]
    assert DirectoryFacts(published_at="2026-08-21", added_at="2026-11-28").date == "2026-08-21"


@pytest.mark.parametrize("error", [NotFound(), Forbidden()])
def test_a_service_may_have_none(error: Exception) -> None:
    assert search(Service(error)) is None
    empty = search(Service({"data": [], "directory": None}))
    assert empty is not None and (empty.items, empty.facts) == ((), None)
