"""What the components of PostgreSQL share: their account, and the schema of a table."""

from webapp.service.components.authoring import Component, app, string


class PostgresqlAccount(Component):
    """A component that works with a database of PostgreSQL."""

    account = app("postgresql")


class PostgresqlTable(PostgresqlAccount):
    """A component that works with a table. ``schema`` is for callers that name the table without it; a choice from the
    list has both."""

    schema = string(label="Schema", description="The schema of the table, such as public.", optional=True, hidden=True)
