"""What ``patchbay check`` says of another Connect service."""

from collections.abc import Iterator

import pytest

from tests.cli.commands.test_check import said_of
from tests.cli.in_process import Commands
from tests.dashboard.plain_service import without_extensions
from tests.fakes.installation import Installation
from webapp.service.domain.access import oauth_clients

LACKS = "It lacks Activity, the history of runs, what triggers sent in a day, the audit; "
HIDDEN = "the dashboard hides what needs them."


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    service = Installation(tmp_path_factory.mktemp("other"))
    yield service.start()
    service.stop()


def drive(patchbay: Commands, other: Installation, **changed: str) -> None:
    client, secret = oauth_clients.create(other.service, name="Dashboard", project_id=other.project.id)
    patchbay.env.update(
        PATCHBAY_CONNECT_URL=other.url, PATCHBAY_CONNECT_CLIENT_ID=client.id, PATCHBAY_CONNECT_CLIENT_SECRET=secret,
        PATCHBAY_PROJECT=other.project.id,
    )  # fmt: skip
    patchbay.env.update(changed)


def test_the_embedded_one_is_not_asked(patchbay: Commands) -> None:
    assert said_of("Connect service", patchbay) == []


@pytest.mark.parametrize("plain", [False, True])
def test_what_it_answers_and_lacks_is_told(plain: bool, patchbay: Commands, other: Installation) -> None:
    if plain:
        without_extensions(other.app)
    drive(patchbay, other)
    answers, *rest = said_of("Connect service", patchbay)
    assert answers == ("ok", f"{other.url} answers for the project {other.project.id} in development.")
    assert rest == ([("note", LACKS + HIDDEN)] if plain else [])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"PATCHBAY_CONNECT_CLIENT_SECRET": "wrong"},
            "{url}: The Connect service refused the dashboard’s own client; check its id and secret.",
        ),
        ({"PATCHBAY_PROJECT": "proj_absent1"}, "{url} has no project proj_absent1; set PATCHBAY_PROJECT to one."),
        (
            {"PATCHBAY_CONNECT_URL": "http://127.0.0.1:9"},
            "http://127.0.0.1:9: The Connect service does not answer right now. "
            "Nothing is lost; try again in a moment.",
        ),
    ],
)
def test_what_keeps_it_from_working_is_a_problem(
    changed: dict[str, str], sentence: str, patchbay: Commands, other: Installation
) -> None:
    drive(patchbay, other, **changed)
    assert said_of("Connect service", patchbay) == [("problem", sentence.format(url=other.url))]
