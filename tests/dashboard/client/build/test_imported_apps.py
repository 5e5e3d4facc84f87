"""Imported apps as the dashboard's client knows them: what is missing is lenient, a document is packed."""

import base64
import gzip

from webapp.dashboard.client.build.imported_apps import Document, ImportedApp, ImportOperation, ImportReport


def test_a_document_is_packed_or_named_by_its_address() -> None:
    body = Document(b"{}", "acme.json").body()
    assert body["source"] == "acme.json"
    assert gzip.decompress(base64.b64decode(body["document"].partition(",")[2])) == b"{}"
    assert Document(url="https://acme.example").body() == {"url": "https://acme.example"}


def test_what_can_be_chosen_and_how_many_stand_under_a_tag() -> None:
    operations = [
        {"operation": "GET /a", "action": "a", "tags": ["A", "B"]},
        {"operation": "GET /b", "reason": "it is deprecated", "deprecated": True, "tags": ["A"]},
        {"operation": "GET /c", "reason": "its body is XML", "tags": ["B"]},
        {"operation": "GET /d", "tags": ["B"]},
    ]
    report = ImportReport.model_validate({"name_slug": "acme", "operations": operations})
    assert [each.can_be_chosen for each in report.operations] == [True, True, False, True]
    assert report.tags == {"A": 2, "B": 3}
    assert report.total == 4
    groups = [{"name": "A", "operations": 7}, {"name": "C", "operations": 1}]
    large = ImportReport.model_validate({"name_slug": "acme", "operations": operations, "groups": groups, "total": 8})
    assert (large.tags, large.total) == ({"A": 7, "C": 1}, 8)
    assert ImportOperation.model_validate({"operation": "GET /e"}).notes == []


def test_a_document_at_an_address_can_be_had_again() -> None:
    apps = [ImportedApp.model_validate({"name_slug": "a", "source": text}) for text in ("https://a.example", "a.json")]
    assert [app.has_address for app in apps] == [True, False]
