"""Signing keys: a project has one for each environment, made when it is needed, sealed, and replaced on request."""

import base64
from dataclasses import replace

from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import signing_keys
from webapp.service.domain.projects.projects import Scene


def test_keys_are_fresh_and_hold_256_bits() -> None:
    one, other = signing_keys.new_signing_key(), signing_keys.new_signing_key()
    assert one != other
    assert one.startswith(signing_keys.PREFIX)
    assert len(base64.b64decode(one.removeprefix(signing_keys.PREFIX), validate=True)) == 32


def test_each_environment_has_its_own_key_which_stays(service: Service, scene: Scene) -> None:
    other = replace(scene, environment="production")
    key = signing_keys.key_of(service, scene)
    assert key.startswith("whsec_") and key != signing_keys.key_of(service, other)
    with service.store.write() as tx:
        signing_keys.ensure(tx, service, scene)
    assert signing_keys.key_of(service, scene) == key
    assert key.encode() not in service.store.all("SELECT key_sealed FROM signing_keys")[0]["key_sealed"]


def test_a_regenerated_key_replaces_one_environments_only(service: Service, scene: Scene) -> None:
    other = replace(scene, environment="production")
    before, others = signing_keys.key_of(service, scene), signing_keys.key_of(service, other)
    with service.store.write() as tx:
        fresh = signing_keys.regenerate(tx, service, scene)
    assert signing_keys.key_of(service, scene) == fresh != before
    assert signing_keys.key_of(service, other) == others
    audited = service.store.one("SELECT subject_id FROM audit WHERE verb = 'regenerated'")
    assert audited is not None and audited["subject_id"] == scene.project_id
