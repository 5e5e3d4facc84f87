"""The limits of a call: how much it may send."""

from webapp.service.components import limits


def test_files_that_are_kept_may_be_sent_besides() -> None:
    assert limits.output_bytes(False) == limits.OUTPUT_BYTES
    assert limits.output_bytes(True) >= limits.OUTPUT_BYTES + limits.STASH_BYTES * 4 // 3
