"""Deliveries and the last day of them."""

from webapp.dashboard.client.models.deliveries import Attempt, Day, DayOf, Delivery


def test_a_delivery_is_retrying_once_it_was_tried() -> None:
    assert not Delivery(status="waiting").retrying
    assert Delivery(status="waiting", attempt=1).retrying
    assert not Delivery(status="failed", attempt=9).retrying


def test_where_it_goes_in_short() -> None:
    assert (Delivery(url="https://a.test:8/x").host, Delivery(url="odd").host) == ("a.test:8", "odd")


def test_an_attempt_is_good_when_it_was_accepted() -> None:
    codes = {"response_status": 204}, {"response_status": 503}, {"failure": "timeout"}
    assert [Attempt.model_validate(code).good for code in codes] == [True, False, False]


def test_a_day_counts_everything() -> None:
    assert Day(delivered=3, failed=2, waiting=1).total == 6
    assert DayOf.model_validate({"id": "dc_1", "failing": [{"url": "https://a.test/"}]}).failing[0].host == "a.test"
