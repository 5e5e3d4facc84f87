"""What a run gave, told by its exports, its log and its return value."""

from webapp.dashboard.client.models.runs import Outcome, Run

FAILED = {"k": "error", "ts": 5, "err": {"name": "Error", "message": "It broke.", "stack": "line 1"}}


def test_an_outcome_with_result_and_exports() -> None:
    outcome = Outcome.model_validate({"ret": "", "exports": {"$summary": "Done", "id": 5}, "os": [{"msg": "looked"}]})
    assert (outcome.ok, outcome.result, outcome.summary, outcome.exports) == (True, "", "Done", {"id": 5})
    assert [(line.kind, line.text) for line in outcome.logs] == [("log", "looked")]


def test_an_error_in_the_log_is_the_outcome() -> None:
    outcome = Outcome.model_validate({"os": [FAILED, "nothing"]})
    assert (outcome.ok, outcome.problem, outcome.logs[0].detail, outcome.logs[0].at) == (
        False,
        "It broke.",
        "line 1",
        5,
    )


def test_an_entry_of_the_history_says_what_it_did_or_why_not() -> None:
    run = Run.model_validate({"id": "run_1", "ok": False, "error": "Refused.", "created_at": 7, "started_at": None})
    assert (run.ok, run.summary, run.problem, run.at) == (False, "Refused.", "Refused.", 7)
    assert Run.model_validate({"os": [FAILED]}).summary == "It broke."


def test_a_run_may_still_run_or_have_been_cut_off() -> None:
    states = {state: Run.model_validate({"ok": False, "status": state}).open for state in ("running", "unknown")}
    assert states == {"running": True, "unknown": True} and not Run.model_validate({"ok": True}).open


def test_a_file_is_called_by_its_name_its_path_or_its_key() -> None:
    files = [{"s3_key": "k", "name": "a", "path": "b"}, {"s3Key": "k", "name": None, "path": "b"}, {"s3_key": "k"}, {}]
    written = Outcome.model_validate({"files": files}).files
    assert [(file.name, file.key) for file in written] == [("a", "k"), ("b", "k"), ("k", "k")]


def test_a_file_is_kept_by_the_key_that_is_told_and_none_without() -> None:
    keys = [{"s3_key": None, "s3Key": "a"}, {"s3_key": 5, "s3Key": "b"}, {"s3_key": "c", "s3Key": "d"}]
    written = Outcome.model_validate({"files": [*keys, {"s3_key": None}, {"s3_key": "", "s3Key": ""}]}).files
    assert [file.key for file in written] == ["a", "b", "c"]
