"""One test for many cases of a kind, where a test for each would take longer to begin and to report than to run."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")
Test = Callable[..., None]


def check_every(cases: Iterable[Case], check: Callable[[Case], None], name: Callable[[Case], str] = str) -> None:
    """Call ``check`` with each of ``cases``, of which there must be some.

    Raises all that failed together, each with the ``name`` of its case.
    """
    failures: list[BaseException] = []
    each_case = list(cases)
    assert each_case, "there are no cases"
    for case in each_case:
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as failure:
            failure.add_note(f"The case: {name(case)}")
            failures.append(failure)
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {len(each_case)} cases failed", failures)


def of_every(argument: str, cases: Sequence[Any], name: Callable[[Any], str] = str) -> Callable[[Test], Test]:
    """Has a test check every case of ``argument``, as ``pytest.mark.parametrize`` has one test for each.

    All cases get the same fixtures, so that those of a test may be only what no case changes for the next one.
    """

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def whole(*arguments: Any, **fixtures: Any) -> None:
            check_every(cases, lambda case: test(*arguments, **fixtures, **{argument: case}), name)

        signature = inspect.signature(test)
        others = [each for each in signature.parameters.values() if each.name != argument]
        whole.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return whole

    return decorate
