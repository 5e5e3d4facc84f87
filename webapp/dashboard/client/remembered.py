"""What another Connect service answered last, for pages while it is slow or does not answer.

Answers to reads alone are kept, in memory, for ten minutes. One that is given again says since when it may be untrue,
and pages say it too. A service that has just failed is left alone for five seconds, so that a page waits once.
"""

from collections.abc import Callable
from typing import Any

import orjson

from webapp.dashboard.client.transport import Memory, ServiceDown
from webapp.errors import Throttled
from webapp.kit.clock import MINUTE, SECOND, Clock
from webapp.kit.kept_json import kept_json

PATIENCE_S = 3.0  # how long to wait for a service whose last answer is still known
REST = 5 * SECOND
_KEPT = 10 * MINUTE
_ANSWERS = 1_000


Ask = Callable[[float | None], Any]  # asks the service; with at most so many seconds of patience


class Remembered:
    """The last answers of one service. ``notice`` hears from when (ms) an answer is that is given again."""

    def __init__(self, clock: Clock, notice: Callable[[int], None]) -> None:
        self._clock, self._notice = clock, notice
        self._answers: Memory[tuple[bytes, int]] = Memory(clock, lifetime=_KEPT, size=_ANSWERS)
        self._rests_until = 0

    def read(self, question: str, ask: Ask) -> Any:
        """What ``ask`` answers, or what it answered to ``question`` before when the service fails."""
        known = self._answers.get(question)
        if known is None:
            return self._keep(question, ask(None))
        if self._clock() >= self._rests_until:
            try:
                return self._keep(question, ask(PATIENCE_S))
            except (ServiceDown, Throttled):
                self._rests_until = self._clock() + REST
        content, at = known
        self._notice(at)
        return orjson.loads(content)

    def _keep(self, question: str, answer: Any) -> Any:
        self._answers.put(question, (kept_json(answer), self._clock()))
        return answer
