"""Where the page of the trigger that the tests deploy is, and where that page asks for news."""

import re
from html import unescape

ID = "dc_000000x"
URL = f"/triggers/{ID}"


def news_url(page: str) -> str:
    found = re.search(r'id="news"\s+hx-get="([^"]+)"', page)
    assert found, page
    return unescape(found[1])
