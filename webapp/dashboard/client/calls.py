"""Records of API calls, without secrets (:mod:`webapp.kit.call_masking`), for developers who want to make the same
calls.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp.errors import Invalid, PatchbayError
from webapp.kit.call_masking import without_values
from webapp.kit.crypto import new_id


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call. ``status`` is 0 without a response; ``at`` is when it ended, in epoch milliseconds; ``id`` is ours."""

    method: str
    address: str
    environment: str
    as_user: bool
    body: Mapping[str, Any] | None
    status: int
    ms: int
    at: int
    sentence: str
    id: str = field(default_factory=lambda: new_id("call"))

    @property
    def failed(self) -> bool:
        """Whether the call failed."""
        return not 200 <= self.status < 300


def sentence_of(error: PatchbayError, body: Mapping[str, Any] | None) -> str:
    """The service's error message, without values of ``body`` that it repeats."""
    details = error.details if isinstance(error, Invalid) else ()
    missing = [f"{detail.field}: {detail.message}" for detail in details if detail.message not in error.message]
    return without_values(" ".join([error.message, *missing]), body or {})
