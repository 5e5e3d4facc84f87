"""OneDrive's download, against a fake written from
https://learn.microsoft.com/en-us/graph/api/driveitem-get-content."""

from collections.abc import Callable

from tests.service.catalog.components.providers.app_harness import AppHarness


def test_a_file_is_downloaded_from_the_address_that_is_given_for_it(desk_of: Callable[..., AppHarness]) -> None:
    onedrive = desk_of("microsoft_onedrive", oauth_access_token="token")
    address = f"http://{onedrive.host}{onedrive.provider.base_path}/content/1"
    file = {"name": "a.csv", "file": {"mimeType": "text/csv"}, "@microsoft.graph.downloadUrl": address}
    onedrive.on("GET /me/drive/items/01A%211", file)
    onedrive.on("GET /content/1", b"a,b")
    reply = onedrive.run("download-file", item_id="01A!1")
    assert reply.value == {"name": "a.csv", "size": 3, "content_type": "text/csv"}
    onedrive.on("GET /me/drive/items/01F", {"name": "Work", "folder": {}})
    assert onedrive.refuses("download-file", item_id="01F") == "Work is a folder. Choose a file."
