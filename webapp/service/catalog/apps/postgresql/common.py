"""What the components of PostgreSQL share: their account."""

from webapp.service.components.authoring import Component, app


class PostgresqlAccount(Component):
    """A component that works with a database of PostgreSQL."""

    account = app("postgresql")
