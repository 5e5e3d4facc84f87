"""Numbered pages: where a window begins, and how many pages a list has."""

import pytest

from webapp.sandbox.paging import Page, Window


@pytest.mark.parametrize(("total", "pages"), [(0, 1), (1, 1), (20, 1), (21, 2), (40, 2)])
def test_the_number_of_pages(total: int, pages: int) -> None:
    assert Page([], Window(), total).pages == pages


def test_a_page_as_json() -> None:
    window = Window(3, 10)
    assert window.offset == 20
    assert Page([1, 2], window, 22).to_json(str) == {"data": ["1", "2"], "page": 3, "per_page": 10, "total": 22}
