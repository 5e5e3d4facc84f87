"""What the cross-cutting tests share: a third party whose secrets are canaries, an installation, a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import thirdparty
from tests.fakes.browser import Browser
from tests.fakes.installation import Installation, copied, prepared
from tests.fakes.tenants import Tenants, create_tenants
from tests.fakes.thirdparty import ThirdParty
from webapp.kit.clock import FakeClock, now
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.accounts.oauth_apps import OAuthApp


@pytest.fixture
def clock() -> FakeClock:
    """A clock that begins at the real time, which other processes share, and then moves only when told to."""
    return FakeClock(now())


@pytest.fixture(scope="session")
def running_party() -> Iterator[ThirdParty]:
    """One third party for all tests of this folder."""
    with thirdparty.running() as party:
        yield party


@pytest.fixture
def party(running_party: ThirdParty) -> ThirdParty:
    """The third party, in its first mood."""
    running_party.reset()
    return running_party


@pytest.fixture(scope="session")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory, running_party: ThirdParty) -> Path:
    """A folder with the third party's apps and the catalog."""
    return prepared(tmp_path_factory.mktemp("prepared"), running_party.apps)


@pytest.fixture
def installation(data: Path, clock: FakeClock, party: ThirdParty, prepared_folder: Path) -> Iterator[Installation]:
    """A served installation whose project has its own OAuth client at the third party."""
    made = Installation(copied(prepared_folder, data), clock=clock, PATCHBAY_ALLOW_HOSTS=party.netloc).start()
    own_client(made)
    yield made
    made.stop()


def own_client(installation: Installation) -> OAuthApp:
    """The project's own OAuth client at the third party."""
    return oauth_apps.add(
        installation.service,
        app="acme",
        client_id=thirdparty.CLIENT_ID,
        client_secret=thirdparty.CLIENT_SECRET,
        project_id=installation.project.id,
    )


@pytest.fixture
def browser(installation: Installation) -> Iterator[Browser]:
    """A person's browser."""
    made = Browser(installation.url)
    yield made
    made.close()


@pytest.fixture
def tenants(installation: Installation, party: ThirdParty, clock: FakeClock) -> Tenants:
    """Ada and Bob, and accounts in three places where Ada has no business."""
    return create_tenants(installation, party, clock)


@pytest.fixture
def adas(tenants: Tenants) -> Iterator[Browser]:
    """Ada's browser."""
    made = tenants.browser("ada@example.com")
    yield made
    made.close()
