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

    def as_project(self, method: str, path: str, *, params: dict[str, Any] | None = None) -> Any:
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


def test_it_is_brought_stopped_and_removed() -> None:
    service = Service({"data": [], "download": {"state": "working", "done": 3, "more": 1}})
    directory = search(service)
    assert directory is not None and directory.download is not None
    assert (directory.download.is_active, directory.download.done, directory.download.step) == (True, 3, "looking")
    client = DirectoryClient(cast(ConnectClient, service))
    client.bring()
    client.stop()
    client.remove()
    assert service.asked[1:] == [
        ("PUT", "/v1/directory/download", None),
        ("DELETE", "/v1/directory/download", None),
        ("DELETE", "/v1/directory", None),
    ]


@pytest.mark.parametrize("error", [NotFound(), Forbidden()])
def test_a_service_may_have_none(error: Exception) -> None:
    assert search(Service(error)) is None
    empty = search(Service({"data": [], "directory": None}))
    assert empty is not None and (empty.items, empty.facts) == ((), None)
