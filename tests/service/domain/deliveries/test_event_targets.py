"""Where the events of a trigger go: to its own webhooks and workflows, or without any to the project webhook."""

from typing import Any, cast

from tests.fakes.delivery_harness import DeliveryHarness
from webapp.service.domain.deliveries import endpoints, event_targets, trigger_webhooks, workflows
from webapp.store.contract import NOTHING, Params, Reader


class CountingReader:
    """Reads from ``store``, and counts how often."""

    def __init__(self, store: Reader) -> None:
        self._store, self.count = store, 0

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        self.count += 1
        return self._store.tuples(sql, params)


def test_where_an_event_goes_is_asked_for_once(post: DeliveryHarness) -> None:
    service, scene = post.service, post.trigger().scene
    with service.store.write() as tx:
        project = endpoints.add(tx, service, "project", "https://project.example/", scene=scene)
    workflow = workflows.add(service, scene, name="Orders", url="https://workflow.example/")
    own, both, none = post.trigger("https://a.example/2", "https://a.example/1"), post.trigger(), post.trigger()
    with service.store.write() as tx:
        trigger_webhooks.set_urls(tx, service, both, ["https://a.example/3"])
        trigger_webhooks.set_workflows(tx, both, [workflow.id])
    reader = CountingReader(service.store)
    found = [event_targets.of_trigger(cast(Reader, reader), trigger) for trigger in (own, both, none)]
    assert reader.count == 3
    urls = [[endpoints.url_of(service, endpoint) for endpoint in those] for those in found]
    assert urls[0] == ["https://a.example/2", "https://a.example/1"]
    assert urls[1:] == [["https://a.example/3", "https://workflow.example/"], ["https://project.example/"]]
    assert found[2] == [project]
