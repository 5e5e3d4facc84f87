"""``patchbay catalog``: what is wrong with the apps, and the building of what is sound."""

from pathlib import Path

from tests.cli.in_process import Commands


def test_the_catalog_is_sound_and_can_be_built(patchbay: Commands, data: Path) -> None:
    (data / "catalog.db").unlink()
    checked = patchbay.json("catalog", "check")
    assert checked["problems"] == []
    assert {"github", "slack", "notion", "stripe", "openai"} <= {row["slug"] for row in checked["apps"]}
    assert patchbay.json("catalog", "build")["apps"] == len(checked["apps"])
    assert (data / "catalog.db").is_file()
