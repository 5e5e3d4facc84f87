"""People whose mail and calendars are at Microsoft and Google, of a service that both can reach.

A service with an app that a piece brings.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.google_push import KEY as CALENDAR
from tests.fakes.declared.google_push import GoogleCalendar
from tests.fakes.declared.graph import KEY as MAIL
from tests.fakes.declared.graph import Graph
from tests.fakes.declared.push import Stage, watching
from tests.fakes.pieces import triggers
from tests.fakes.pieces.triggers import PieceStage
from tests.once import folders
from webapp.kit.clock import FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

_DATABASE = shutil.ignore_patterns("patchbay.db*")  # other tests may have made one there, with a key of theirs


@pytest.fixture
def graph(slack_bench: Bench) -> Graph:
    return Graph(slack_bench.app("microsoft_outlook"), {}, {})


@pytest.fixture
def push_stage(slack_bench: Bench, graph: Graph) -> Iterator[Stage]:
    """People with mail at Microsoft."""
    with watching(slack_bench, graph, MAIL) as opened:
        yield opened
        graph.refuses = 0


@pytest.fixture
def google(slack_bench: Bench) -> GoogleCalendar:
    return GoogleCalendar(slack_bench.app("google_calendar"), {}, {})


@pytest.fixture
def calendars(slack_bench: Bench, google: GoogleCalendar) -> Iterator[Stage]:
    """People with a calendar at Google."""
    with watching(slack_bench, google, CALENDAR) as opened:
        google.now = opened.clock()
        yield opened


@pytest.fixture(scope="session")
def piece_folder(tmp_path_factory: pytest.TempPathFactory, catalog_folder: Path) -> Path:
    """A data folder with the app and a catalog that knows it, to be copied."""
    folder = tmp_path_factory.mktemp("pieces")
    shutil.copytree(catalog_folder, folder, dirs_exist_ok=True, ignore=_DATABASE)
    triggers.write(folder)
    close_service(open_service(Settings.from_env({}, data=folder), FakeClock()))
    return folder


@pytest.fixture
def opened(data: Path, clock: FakeClock, piece_folder: Path) -> Iterator[Service]:
    folders.copy(piece_folder, data)
    service = open_service(Settings.from_env({}, data=data), clock)
    yield service
    close_service(service)


@pytest.fixture
def piece_stage(opened: Service) -> PieceStage:
    """The app, with a client whose secret its owner entered."""
    return PieceStage(opened, Scene(projects.create(opened, name="Acme").id, "development"))
