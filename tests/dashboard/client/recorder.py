"""The Connect API with nothing behind it: for what a noun's client asks, and what it makes of the answer."""

from typing import Any, Unpack

from webapp.dashboard.client.connect import Call, ConnectClient


class Recorder(ConnectClient):
    """Notes each call, with who makes it, and gives ``answers`` one after the other; an exception is raised."""

    def __init__(self, *answers: Any) -> None:
        self.calls: list[tuple[str, str, str, Call]] = []
        self._answers = list(answers)

    def as_user(self, user: str, method: str, path: str, **call: Unpack[Call]) -> Any:
        return self._answer(user, method, path, call)

    def as_project(self, method: str, path: str, **call: Unpack[Call]) -> Any:
        return self._answer("the project", method, path, call)

    def path(self, *parts: str) -> str:
        return "/".join(("P", *parts))

    def _answer(self, who: str, method: str, path: str, call: Call) -> Any:
        self.calls.append((who, method, path, call))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer
