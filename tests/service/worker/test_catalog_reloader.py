"""What the operator changes reaches a service that runs."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.samples import bare
from webapp.errors import Unavailable
from webapp.service.catalog.build import build
from webapp.service.catalog.sources import Places
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service
from webapp.service.worker import catalog_reloader
from webapp.service.worker.catalog_reloader import CatalogReloader

GREET = """from webapp.service.components.authoring import Action

class Greet(Action):
    name, description = "Greet", "Says hello."
    annotations = dict.fromkeys(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), False)

    def run(self, ctx):
        return 1
"""


@pytest.fixture(autouse=True)
def own_apps(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on only the apps of the tests are built: what changes stands beside the hundreds that are built in."""
    places = replace(Places.of(service.settings.data), built_in=service.settings.data / "no-built-in-apps")
    monkeypatch.setattr(Places, "of", lambda _: places)


@pytest.fixture
def file(service: Service) -> Path:
    """Where a component of the operator's will stand."""
    path = service.settings.data / "components" / "greet" / "1.0.0.py"
    path.parent.mkdir(parents=True)
    return path


def app_called(name: str) -> str:
    return bare("mine", name, category="testing")


def name_of(service: Service) -> str | None:
    component = service.catalog.component("~/greet")
    return component.name if component else None


def test_a_change_is_built_once_it_stands_still(service: Service, file: Path) -> None:
    reloader, names = CatalogReloader(service), []
    reloader.turn()
    for text in (GREET, GREET.replace('"Greet"', '"Welcome"')):
        file.write_text(text, "utf-8")
        for _ in range(2):
            reloader.turn()
            names.append(name_of(service))
    file.unlink()
    reloader.turn()
    reloader.turn()
    assert [*names, name_of(service)] == [None, "Greet", "Greet", "Welcome", None]


def test_files_of_an_app_count_too(service: Service) -> None:
    reloader, apps = CatalogReloader(service), service.settings.data / "apps" / "mine"
    apps.mkdir(parents=True)
    for name, text in (("app.toml", app_called("Mine")), ("app.toml", app_called("Ours")), ("common.py", "X = 1")):
        (apps / name).write_text(text, "utf-8")
        reloader.turn()
        reloader.turn()
    app = service.catalog.app("mine")
    assert app is not None and app.name == "Ours"
    built = (service.settings.data / "catalog.db").stat().st_ino
    (apps / "common.py").write_text("X = 2", "utf-8")
    reloader.turn()
    reloader.turn()
    assert (service.settings.data / "catalog.db").stat().st_ino != built


def test_nothing_is_built_while_nothing_changes(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Any] = []
    monkeypatch.setattr(catalog_file, "update", built.append)
    reloader = CatalogReloader(service)
    for _ in range(5):
        reloader.turn()
    assert built == [service], "once, for what may have changed before it began"


def test_whoever_only_reads_takes_in_what_others_built(service: Service, file: Path) -> None:
    reader = CatalogReloader(service, builds=False)
    file.write_text(GREET, "utf-8")
    reader.turn()
    reader.turn()
    assert name_of(service) is None
    build(service.settings.data / "catalog.db", Places.of(service.settings.data), service.executor.call)
    reader.turn()
    assert name_of(service) == "Greet"


def test_a_component_with_a_mistake_is_named_and_the_rest_stays(
    service: Service, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reloader = CatalogReloader(service)
    reloader.turn()
    reloader.turn()
    apps = len(service.catalog)
    file.write_text("def (:", "utf-8")
    reloader.turn()
    reloader.turn()
    assert "greet/1.0.0.py" in caplog.text and len(service.catalog) == apps > 0


def test_what_could_not_be_built_is_tried_again(service: Service, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reloader = CatalogReloader(service)
    reloader.turn()
    file.write_text(f"{GREET}# No test has had it declared before.\n", "utf-8")
    reloader.turn()
    gone = Reply(None, error=ErrorInfo("runner", "RunnerError", "The runner does not answer."))
    with monkeypatch.context() as patched:
        patched.setattr(type(service.executor), "call", lambda *_: gone)
        with pytest.raises(Unavailable):
            reloader.turn()
    reloader.turn()
    assert name_of(service) == "Greet"


def test_its_thread_looks_and_ends(service: Service, file: Path) -> None:
    reloader = CatalogReloader(service)
    reloader.start()
    file.write_text(GREET, "utf-8")
    ends = time.monotonic() + 60
    while name_of(service) is None and time.monotonic() < ends:
        time.sleep(0.02)
    reloader.stop(1.0)
    assert name_of(service) == "Greet"


def test_looks_that_take_long_are_taken_less_often(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    def wait(pause: float) -> bool:
        pauses.append(pause)
        return len(pauses) > 2

    monkeypatch.setattr(catalog_reloader, "_signature", lambda _: bytes(sum(range(2_000_000)) % 2))
    reloader = CatalogReloader(service)
    monkeypatch.setattr(reloader._stopping, "wait", wait)
    reloader._run()
    assert pauses[2] == catalog_reloader.SHARE * reloader.look_s > catalog_reloader.EVERY_S


def test_a_look_sees_each_file_that_may_be_built_and_no_other(service: Service) -> None:
    places = Places.of(service.settings.data)
    (own,) = places.own
    for name in ("one/app.toml", "one/actions/go/0.0.1.py", "one/notes.txt"):
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text("x")
    names = {str(own / name) for name in ("one/app.toml", "one/actions/go/0.0.1.py")}
    before = catalog_reloader._signature(places)
    assert {name for name, _, _ in catalog_reloader._facts([str(own / "one")])} == names
    for name in ("one/notes.txt", "one/app.toml"):
        assert catalog_reloader._signature(places) == before
        (own / name).write_text("more")
    assert catalog_reloader._signature(places) != before
