"""Each request has an id of its own; one that is made while another is answered shares the other's."""

from webapp.kit import request_ids


def test_an_id_lasts_as_long_as_its_request() -> None:
    before = request_ids.begin()
    first = request_ids.current()
    assert len(first) == 16 and before == ""
    request_ids.end(before)
    assert request_ids.current() == ""
    request_ids.end(request_ids.begin())
    assert request_ids.current() == ""


def test_a_request_within_a_request_shares_its_id() -> None:
    outer = request_ids.begin()
    shared = request_ids.current()
    inner = request_ids.begin(shared)
    assert request_ids.current() == shared
    request_ids.end(inner)
    assert request_ids.current() == shared
    request_ids.end(outer)
