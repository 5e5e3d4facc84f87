"""People whose mail and calendars are at Microsoft and Google, of a service that both can reach."""

from collections.abc import Iterator

import pytest

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.google_push import KEY as CALENDAR
from tests.fakes.declared.google_push import GoogleCalendar
from tests.fakes.declared.graph import KEY as MAIL
from tests.fakes.declared.graph import Graph
from tests.fakes.declared.push import Stage, watching


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
