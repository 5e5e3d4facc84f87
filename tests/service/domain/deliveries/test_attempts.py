"""Attempts are logged in one statement, however many there are."""

from webapp.service.domain.deliveries import attempts


def test_rows_become_marks_and_parameters() -> None:
    marks, params = attempts.values_of([("a", 1), ("b", None)])
    assert marks == "(:r0_0, :r0_1), (:r1_0, :r1_1)"
    assert params == {"r0_0": "a", "r0_1": 1, "r1_0": "b", "r1_1": None}
