"""The instance key: made once in its file, or given by the setting."""

import stat
from pathlib import Path

from webapp.service.domain.base.key_file import load_instance_key
from webapp.settings import Settings


def test_the_key_file_is_made_once_and_for_the_owner_alone(settings: Settings) -> None:
    first = load_instance_key(settings)
    path = settings.data / "keys"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_instance_key(settings) == first
    assert [file.name for file in settings.data.iterdir()] == ["keys"]


def test_the_setting_wins_over_the_file(data: Path) -> None:
    settings = Settings.from_env({"PATCHBAY_SECRET_KEY": "s" * 40}, data=data)
    assert load_instance_key(settings) == load_instance_key(settings)
    assert not (data / "keys").exists()
