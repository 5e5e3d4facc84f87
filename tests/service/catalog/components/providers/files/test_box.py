"""Box's download, against a fake written from https://developer.box.com/reference/get-files-id-content."""

from collections.abc import Callable

from tests.service.catalog.components.providers.app_harness import AppHarness, FakeAnswer


def test_a_file_is_downloaded_from_where_box_redirects_to(desk_of: Callable[..., AppHarness]) -> None:
    box = desk_of("box", oauth_access_token="token")
    address = f"http://{box.host}{box.provider.base_path}/content/1"
    box.on("GET /files/12", {"name": "a.csv"})
    box.on("GET /files/12/content", FakeAnswer(302, None, {"Location": address}))
    box.on("GET /content/1", b"a,b")
    reply = box.run("download-file", file_id="12")
    assert (reply.value["name"], reply.value["size"]) == ("a.csv", 3)
    box.on("GET /files/12/content", FakeAnswer(202, None, {"Retry-After": "3"}))
    assert box.refuses("download-file", file_id="12").startswith("Box is not done")
    box.on("GET /files/12/content", FakeAnswer(404, {"message": "Not found"}))
    assert box.refuses("download-file", file_id="12") == "Box answered with status 404."
