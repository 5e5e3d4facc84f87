"""The logs over the API: of one user or of the project, page by page."""

from typing import Any

from webapp.dashboard.client.logs import LogClient, every
from webapp.errors import NotFound


class Api:
    """Answers with pages of two entries, and keeps what it was asked."""

    def __init__(self, count: int) -> None:
        self.count, self.asked = count, list[tuple[str, str, Any]]()

    def path(self, *parts: str) -> str:
        return "/".join(("P", *parts))

    def as_project(self, method: str, path: str, *, params: Any) -> Any:
        self.asked.append((method, path, params))
        if not self.count:
            raise NotFound
        first = int(params["after"] or 0)
        last = min(first + 2, self.count)
        data = [{"kind": "run", "id": f"run_{number}"} for number in range(first, last)]
        return {"data": data, "page_info": {"end_cursor": str(last) if last < self.count else ""}, "counts": {"run": 5}}

    def as_user(self, user: str, method: str, path: str, *, params: Any) -> Any:
        return self.as_project(user, path, params=params)


def test_every_entry_is_read_page_by_page_up_to_the_most() -> None:
    api: Any = Api(5)
    assert [entry.id for entry in every(LogClient(api), {}, most=4)] == [f"run_{number}" for number in range(4)]
    assert [(params["limit"], params["counts"]) for _, _, params in api.asked] == [(4, False), (2, False)]
    assert len(list(every(LogClient(api), {}, most=100))) == 5


def test_a_user_s_own_are_asked_for_with_their_token() -> None:
    api: Any = Api(1)
    page = LogClient(api, "alice").page({"kind": "run"}, limit=3)
    assert page and page.counts == {"run": 5}
    assert api.asked[0][:2] == ("alice", "P/logs") and api.asked[0][2]["external_user_id"] == "alice"


def test_a_service_without_logs() -> None:
    api: Any = Api(0)
    assert LogClient(api).page({}, limit=3) is None and list(every(LogClient(api), {}, most=3)) == []
