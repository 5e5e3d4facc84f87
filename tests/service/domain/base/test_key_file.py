"""The instance key: made once in its file, or given by the setting."""

import stat
from pathlib import Path

import pytest

from webapp.service.domain.base.key_file import MissingKey, load_instance_key
from webapp.settings import Settings


def test_the_key_file_is_made_once_and_for_the_owner_alone(settings: Settings) -> None:
    first = load_instance_key(settings, new=True)
    path = settings.data / "keys"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_instance_key(settings, new=True) == first
    assert [file.name for file in settings.data.iterdir()] == ["keys"]


def test_the_setting_wins_over_the_file(data: Path) -> None:
    settings = Settings.from_env({"PATCHBAY_SECRET_KEY": "s" * 40}, data=data)
    assert load_instance_key(settings, new=True) == load_instance_key(settings, new=True)
    assert not (data / "keys").exists()


def test_a_missing_key_file_is_made_for_a_new_database_alone(settings: Settings) -> None:
    with pytest.raises(MissingKey, match=r"keys is missing.*Put it back"):
        load_instance_key(settings, new=False)
    assert list(settings.data.iterdir()) == []
