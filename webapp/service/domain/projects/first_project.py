"""Names the first project of an installation, in the transaction that creates its owner."""

from collections.abc import Sequence

from webapp.errors import Detail, Invalid
from webapp.people.start_tokens import ProjectNames
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import (
    UNNAMED,
    Project,
    assumed_email,
    change,
    default_id,
    get,
    insert,
    prepare,
)
from webapp.store.contract import Reader, Tx


class FirstProject:
    """The first project of ``service``."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def names(self) -> ProjectNames:
        """The names that somebody has set; empty for defaults."""
        project = self._existing(self._service.store)
        if project is None or project.support_email in (assumed_email(self._service), "support@localhost"):
            return ProjectNames("", "")
        return ProjectNames(project.app_name, project.support_email)

    def problems(self, names: ProjectNames) -> Sequence[Detail]:
        """The problems of ``names``, by field."""
        try:
            self._prepared(names)
        except Invalid as error:
            return [detail for detail in error.details if detail.field != "name"]
        return []

    def save(self, tx: Tx, names: ProjectNames) -> None:
        """Call it that. Raises :class:`Invalid`."""
        project = self._existing(tx)
        if project is None:
            insert(self._service, tx, self._prepared(names))
            return
        name = names.app_name if project.name == UNNAMED else project.name
        texts = {"name": name, "app_name": names.app_name, "support_email": names.support_email}
        change(self._service, tx, project, **texts)

    def _existing(self, reader: Reader) -> Project | None:
        project_id = default_id(self._service, reader)
        return get(reader, project_id) if project_id else None

    def _prepared(self, names: ProjectNames) -> Project:
        """A project of these names, none of which may be left to be assumed."""
        app_name, support_email = names.app_name or " ", names.support_email or " "
        return prepare(self._service, name=app_name, app_name=app_name, support_email=support_email)
