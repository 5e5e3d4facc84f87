"""The wheel carries all that it needs: a copy installed from it serves a styled page in an empty folder."""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests

from tests.installed import Copy, environment, journey, kept

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.installed


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source tree, without network."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture
def url(wheel: Path, tmp_path: Path) -> Iterator[str]:
    """The address that an installed copy prints. Its dependencies come from this environment."""
    site, command = tmp_path / "site", tmp_path / "patchbay"
    with zipfile.ZipFile(wheel) as archive:  # a wheel is a zip file of what goes into site-packages
        archive.extractall(site)
    command.write_text(
        f"#!{sys.executable} -P\nimport sys\nsys.path.insert(0, {str(site)!r})\nimport webapp\n"
        f"assert webapp.__file__.startswith({str(site)!r})\nfrom webapp.cli.main import main\nmain()\n"
    )
    command.chmod(0o755)
    with Copy(command, tmp_path / "empty").serving() as address:
        yield address
    shutil.rmtree(site)


def test_an_installed_copy_serves_a_styled_page(url: str) -> None:
    with requests.Session() as session:
        session.trust_env = False
        page = session.get(url, timeout=10)
        assert page.status_code == 200
        sheets = re.findall(r'<link[^>]+href="([^"]+\.css[^"]*)"', page.text)
        assert sheets
        for sheet in sheets:
            found = session.get(urljoin(url, sheet), timeout=10)
            assert (found.status_code, found.headers["Content-Type"].split(";")[0]) == (200, "text/css")
            assert len(found.text) > 500
        scripts = re.findall(r'<script[^>]+src="([^"]+)"', page.text)
        assert all(session.get(urljoin(url, one), timeout=10).status_code == 200 for one in scripts)
        assert "Retries" in session.get(urljoin(url, "/docs/contract"), timeout=10).text


def test_the_wheel_carries_apps_templates_styles_and_the_packages_of_the_front_end(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for pattern in (
        r"webapp/service/catalog/.*github/app\.toml", r"webapp/_assets/templates/.*\.html",
        r"webapp/_assets/templates/docs/contract\.md",
        r"webapp/_assets/static/css/.*\.css",
        r"webapp/_assets/static/vendor/htmx-[\d.]+\.min\.js", r"webapp/_assets/static/vendor/inter-.*\.woff2",
        r".*dist-info/licenses/LICENSE", r".*dist-info/entry_points\.txt",
    ):  # fmt: skip
        assert any(re.fullmatch(pattern, name) for name in names), pattern
    assert not [name for name in names if re.search(r"^instance/|tests/|\.db$|node_modules", name)]


def test_a_newcomers_first_steps_without_the_source(wheel: Path, tmp_path: Path) -> None:
    """Served in an empty folder: the first login, the sandbox connected by OAuth, an action, a trigger and a tool."""
    copy = Copy(environment(tmp_path / "env", wheel), tmp_path / "empty")
    names = journey(copy)
    assert not [path for path in copy.folder.iterdir() if path.name not in ("instance", "serve.log")]
    kept(copy, names)
