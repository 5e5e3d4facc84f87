"""Documents in Google's own format become operations like those of OpenAPI, with names that people understand."""

import json
from typing import Any

import pytest

from webapp.service.catalog.importing import documents, operations, security
from webapp.service.catalog.importing.actions import App, action
from webapp.service.catalog.importing.discovery import converted, is_discovery
from webapp.service.catalog.importing.operations import Operation

DRIVE: dict[str, Any] = {
    "kind": "discovery#restDescription", "name": "drive", "version": "v3", "title": "Google Drive API",
    "revision": "20261101", "rootUrl": "https://www.googleapis.com/", "servicePath": "drive/v3/",
    "documentationLink": "https://developers.google.com/drive/",
    "auth": {"oauth2": {"scopes": {"https://www.googleapis.com/auth/drive": {"description": "See all your files"}}}},
    "parameters": {
        "fields": {"type": "string", "location": "query", "description": "Selector."},
        "prettyPrint": {"type": "boolean", "location": "query", "default": "true"},
    },
    "schemas": {
        "File": {"type": "object", "properties": {
            "name": {"type": "string", "annotations": {"required": ["drive.files.create"]}},
            "size": {"type": "string", "format": "int64", "readOnly": True},
            "parents": {"type": "array", "items": {"type": "string"}},
            "owner": {"$ref": "User", "description": "Whose it is."},
            "extra": {"type": "any"}, "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        }},
        "User": {"type": "object", "properties": {"email": {"type": "string"}}},
    },
    "resources": {"files": {
        "methods": {
            "get": {
                "id": "drive.files.get", "path": "files/{fileId}", "httpMethod": "GET", "supportsMediaDownload": True,
                "parameters": {
                    "fileId": {"type": "string", "required": True, "location": "path"},
                    "acknowledgeAbuse": {"type": "boolean", "default": "false", "location": "query"},
                    "size": {"type": "integer", "default": "10", "minimum": "1", "maximum": "100", "location": "query"},
                    "spaces": {"type": "string", "repeated": True, "location": "query"},
                },
                "response": {"$ref": "File"}, "scopes": ["https://www.googleapis.com/auth/drive"],
            },
            "create": {
                "id": "drive.files.create", "path": "files", "httpMethod": "POST", "request": {"$ref": "File"},
                "mediaUpload": {"protocols": {"simple": {"path": "/upload/drive/v3/files"}}},
            },
        },
        "resources": {"replies": {"methods": {"list": {"id": "drive.replies.list", "path": "files/{+file}/replies"}}}},
    }},
}  # fmt: skip


def listed() -> dict[str, Operation]:
    document = documents.read(json.dumps(DRIVE).encode())
    return {each.operation_id: each for each in operations.listed(document)}


def test_every_method_is_an_operation_with_a_name() -> None:
    assert [(each.id, each.title, each.tags) for each in listed().values()] == [
        ("GET /drive/v3/files/{fileId}", "Get file", ("Files",)),
        ("GET /drive/v3/files/{fileId}#media", "Download: get file", ("Files",)),
        ("POST /drive/v3/files", "Create file", ("Files",)),
        ("POST /upload/drive/v3/files#media", "Create file with a file", ("Files",)),
        ("GET /drive/v3/files/{+file}/replies", "List file replies", ("Files replies",)),
    ]


def test_what_it_takes_and_gives_is_kept() -> None:
    document = documents.read(json.dumps(DRIVE).encode())
    app = App("google_drive", "", "https://developers.google.com/drive/")
    made = {key: action(document, each, "api-do", app, {}) for key, each in listed().items()}
    get = made["drive.files.get"].toml
    assert get["request"]["params"].keys() == {"fields", "acknowledgeAbuse", "size", "spaces"}
    assert (get["props"]["size"]["min"], get["props"]["size"]["max"], get["props"]["size"]["default"]) == (1, 100, 10)
    assert get["props"]["spaces"]["type"] == "string[]" and get["props"]["acknowledgeAbuse"]["default"] is False
    download = made["drive.files.get.download"].toml
    assert download["request"]["url"] == "/drive/v3/files/{fileId}" and download["request"]["params"]["alt"] == "media"
    assert download["file"] == "api-do.bin"
    create = made["drive.files.create"].toml
    assert not create["props"]["name"].get("optional") and create["props"]["parents"]["optional"]
    assert "size" not in create["request"]["json"] and create["request"]["json"]["owner"] == {"email": "{owner_email}"}
    upload = made["drive.files.create.upload"].toml
    assert upload["request"]["file"] == "{file}" and upload["request"]["url"] == "/upload/drive/v3/files"
    assert made["drive.replies.list"].toml["request"]["url"] == "/drive/v3/files/{file|path}/replies"


def test_scopes_are_alternatives() -> None:
    document = documents.read(json.dumps(DRIVE).encode())
    assert security.needed(document, listed()["drive.files.get"]) == [("oauth2",)]
    assert document.root["servers"] == [{"url": "https://www.googleapis.com"}]
    assert document.info["version"] == "v3 20261101"


@pytest.mark.parametrize(("root", "expected"), [({"openapi": "3.1.0"}, False), ({"kind": DRIVE["kind"]}, True)])
def test_other_documents_are_left_alone(root: dict[str, Any], expected: bool) -> None:
    assert is_discovery(root) is expected


def test_methods_of_one_path_are_all_there() -> None:
    resources = {
        noun: {"methods": {"get": {"id": f"meet.{noun}.get", "path": "v2/{+name}"}}} for noun in ("spaces", "records")
    }
    paths = converted({"resources": resources})["paths"]
    assert {name.partition("#")[0] for name in paths} == {"/v2/{+name}"}
    assert {path["get"]["operationId"] for path in paths.values()} == {"meet.spaces.get", "meet.records.get"}


def test_a_document_that_says_little_is_no_trap() -> None:
    assert converted({"resources": {"a": {"methods": {"x": {}, "y": 5}}, "b": 3}, "auth": 1})["paths"].keys() == {"/"}
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(500):
        deep = {"items": deep}
    assert converted({"schemas": {"Deep": deep}})["components"]["schemas"]["Deep"]
