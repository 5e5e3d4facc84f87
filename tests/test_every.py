"""Every case is checked, and each that fails is named."""

from pathlib import Path

import pytest

from tests.every import check_every, of_every


def test_all_that_fail_are_raised_together_with_their_names() -> None:
    checked: list[int] = []

    def check(number: int) -> None:
        checked.append(number)
        assert number != 2
        if number == 3:
            pytest.fail("three")

    with pytest.raises(BaseExceptionGroup, match="2 of 4 cases failed") as raised:
        check_every(range(1, 5), check, name=lambda number: f"number {number}")
    assert checked == [1, 2, 3, 4]
    assert [each.__notes__ for each in raised.value.exceptions] == [["The case: number 2"], ["The case: number 3"]]


def test_no_cases_are_a_mistake() -> None:
    with pytest.raises(AssertionError, match="no cases"):
        check_every([], print)


@of_every("number", [1, 2, 3])
def test_a_test_gets_each_case_and_its_fixtures(tmp_path: Path, number: int) -> None:
    (tmp_path / str(number)).touch()
    assert len(list(tmp_path.iterdir())) == number
