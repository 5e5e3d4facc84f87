"""Large bodies in parts: whole when they are read, sealed one by one, gone with what they belong to."""

import pytest

from tests.fakes.deployed import plant_trigger_of
from tests.fakes.triggers import request_of
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import body_parts
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import inbox


def test_a_body_is_whole_again_whatever_its_length(service: Service, scene: Scene) -> None:
    trigger, _ = plant_trigger_of(service, scene, "http-new-requests")
    inbox.add(service, trigger, request_of(1))
    ((request_id,),) = service.store.tuples("SELECT id FROM trigger_inbox")
    for content in (b"x", bytes(range(256)) * 1024, b"y" * (body_parts.PART + 1)):
        with service.store.write() as tx:
            tx.run("DELETE FROM body_parts")
            body_parts.keep(tx, service, scene.project_id, "request_id", request_id, content)
        assert body_parts.read(service, scene.project_id, "request_id", request_id) == content
    kept = service.store.tuples("SELECT part_sealed FROM body_parts")
    assert len(kept) == 2 and b"yyyy" not in kept[0][0]
    with service.store.write() as tx:
        tx.run("DELETE FROM trigger_inbox")
    with pytest.raises(LookupError):
        body_parts.read(service, scene.project_id, "request_id", request_id)
