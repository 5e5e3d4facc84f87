"""The limits of bodies fit into each other: what one place takes is not refused by the one in front of it."""

import base64

from webapp import body_limits
from webapp.service.components import limits
from webapp.service.domain.components import file_stash


def test_each_is_within_what_the_server_reads() -> None:
    sizes = {name: size for name, size in vars(body_limits).items() if isinstance(size, int)}
    assert {name for name, size in sizes.items() if size >= body_limits.SERVER} == {"SERVER", "API_DOCUMENT"}, (
        "what is sent as gzip, fetched or read from a file may be larger"
    )


def test_the_largest_file_fits_into_a_form_and_as_a_data_url_into_a_message() -> None:
    assert file_stash.MAX_BYTES == limits.STASH_BYTES == body_limits.FILE
    assert body_limits.FILE <= body_limits.REQUEST < body_limits.UPLOAD
    url = len(base64.b64encode(bytes(3_000))) * file_stash.MAX_BYTES / 3_000
    assert url + 1_000 < body_limits.AGENT_MESSAGE
