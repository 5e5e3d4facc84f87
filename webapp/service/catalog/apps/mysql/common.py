"""What the components of MySQL share: their account."""

from webapp.service.components.authoring import Component, app


class MysqlAccount(Component):
    """A component that works with a database of MySQL."""

    account = app("mysql")
