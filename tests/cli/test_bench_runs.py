"""The figures of ``patchbay bench`` about components are measured, not made up."""

from webapp.cli.bench_runs import measure


def test_a_run_costs_more_than_the_function_and_waiting_overlaps() -> None:
    found = measure(5)
    assert 0 <= found.bare_ms < found.run_ms
    assert round(found.run_ms - found.bare_ms, 1) == round(found.overhead_ms, 1)
    assert found.wait_s <= found.side_by_side_s < found.at_once * found.wait_s / 2
    assert f"{found.at_once} runs at once" in found.text()
