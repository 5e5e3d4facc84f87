"""The history of accounts and triggers: who reads which entries, and that the audit has them too."""

from webapp import audit
from webapp.kit.cursors import Window
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import activity
from webapp.service.domain.projects.activity import Filter, Subject
from webapp.service.domain.projects.projects import Scene


def write(service: Service, subject: Subject, at: int, kind: str, *, good: bool = True) -> None:
    with service.store.write() as tx:
        activity.write(tx, subject, at, kind, f"It was {kind}.", good=good)


def test_entries_of_an_account_come_newest_first(service: Service, scene: Scene) -> None:
    account = Subject("apn_1", scene, "exu_1", "acme")
    write(service, account, 1, "connected")
    write(service, account, 2, "failed", good=False)
    write(service, Subject("apn_2", scene, "exu_1", "acme"), 3, "connected")
    page = activity.of_account(service.store, "apn_1", Window())
    assert [(entry.at, entry.kind, entry.good) for entry in page.items] == [
        (2, "failed", False),
        (1, "connected", True),
    ]
    assert page.total_count == 2


def test_a_triggers_entry_names_no_account(service: Service, scene: Scene) -> None:
    write(service, Subject("", scene, "exu_1", "", trigger_id="dc_1"), 1, "deployed")
    (entry,) = activity.of_scene(service.store, scene, Window(), Filter(trigger_id="dc_1")).items
    shown = entry.to_json()
    assert (shown["account_id"], shown["app"], shown["trigger_id"]) == (None, None, "dc_1")


def test_a_scene_sees_its_own_entries_by_every_filter(service: Service, scene: Scene) -> None:
    elsewhere = Scene(scene.project_id, "production")
    write(service, Subject("apn_1", scene, "exu_1", "acme"), 1, "connected")
    write(service, Subject("apn_2", scene, "exu_2", "other"), 2, "renamed")
    write(service, Subject("apn_3", elsewhere, "exu_1", "acme"), 3, "connected")

    def found(filters: Filter) -> list[str]:
        return [entry.account_id for entry in activity.of_scene(service.store, scene, Window(), filters).items]

    assert found(Filter()) == ["apn_2", "apn_1"]
    assert found(Filter(external_user_id="exu_1")) == ["apn_1"]
    assert found(Filter(app="other")) == ["apn_2"]
    assert found(Filter(kind="renamed", account_id="apn_1")) == []


def test_what_happened_is_audited_and_outlives_the_history_of_a_user(service: Service, scene: Scene) -> None:
    write(service, Subject("apn_1", scene, "exu_1", "acme"), 1, "connected")
    with service.store.write() as tx:
        assert activity.drop_user(tx, "exu_1") == 1
    assert activity.of_account(service.store, "apn_1", Window()).items == []
    (entry,) = audit.page(service.store, audit.Filter(subject_id="apn_1"), Window()).items
    assert (entry.noun, entry.verb, entry.external_user_id) == ("account", "connected", "exu_1")
