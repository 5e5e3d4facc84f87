"""Workflows: named URLs of a project's environment, to which triggers send their events by an id (``p_…``)."""

from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit import cursors
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoint_state, endpoints, trigger_webhooks
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader
from webapp.store.table import Rows

MAX_NAME, MOST = 100, 1_000
_WORKFLOWS = Rows("endpoints", Endpoint)


def page(reader: Reader, scene: Scene, window: cursors.Window) -> cursors.Page[Endpoint]:
    """The workflows of ``scene``, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    where = "project_id = :project AND environment = :environment AND owner = 'workflow'"
    return _WORKFLOWS.page(reader, window, where, scene.params)


def get(reader: Reader, scene: Scene, workflow_id: str) -> Endpoint:
    """One of them. Raises :class:`NotFound`."""
    workflow = endpoints.find(reader, workflow_id)
    if workflow is None or workflow.owner != "workflow" or endpoints.scene_of(workflow) != scene:
        raise NotFound("There is no such workflow.")
    return workflow


def add(service: Service, scene: Scene, *, name: str, url: str) -> Endpoint:
    """Register a URL. Raises :class:`Invalid` for a name or URL that cannot be used, :class:`Conflict` for too many."""
    name = _checked(name)
    not_found = endpoints.check_urls(service, "url", url).get(url)
    with service.store.write() as tx:
        if len(endpoints.of_scene(tx, scene, "workflow")) >= MOST:
            raise Conflict(f"A project's environment can have at most {MOST:,} workflows; remove one first.")
        return endpoints.add(tx, service, "workflow", url, scene=scene, name=name, not_found=not_found)


def change(service: Service, workflow: Endpoint, *, name: str | None = None, url: str | None = None) -> None:
    """Give a workflow another name, or another URL, which resets its state. Raises :class:`Invalid`."""
    name = None if name is None else _checked(name)
    not_found = None if url is None else endpoints.check_urls(service, "url", url).get(url)
    with service.store.write() as tx:
        if name is not None:
            endpoints.write(tx, workflow.id, name=name, updated_at=service.clock())
        if url is not None and endpoints.hash_of(service, url) != workflow.url_hash:
            endpoints.move(tx, service, workflow, url, not_found)
            endpoint_state.resume(tx, workflow.id, service.clock())
    service.wake()


def remove(service: Service, workflow: Endpoint) -> None:
    """Remove a workflow, also from the targets of triggers."""
    with service.store.write() as tx:
        trigger_webhooks.forget_workflow(tx, workflow.id)
        endpoint_state.remove(tx, workflow, service.clock())


def _checked(name: str) -> str:
    name = name.strip()
    if not name:
        raise Invalid.of("name", "It is missing.")
    if len(name) > MAX_NAME:
        raise Invalid.of("name", f"It has more than {MAX_NAME} characters.")
    return name
