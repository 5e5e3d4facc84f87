"""``patchbay user``: the people who sign in to the dashboard."""

import click

from webapp.cli.options import JSON, opened, show, table
from webapp.errors import NotFound
from webapp.kit.clock import iso
from webapp.people import api_keys, users


@click.group()
def user() -> None:
    """People who sign in."""


@user.command("create")
@click.option("--email", required=True, help="The address to sign in with.")
@click.option("--password", help="The password; asked for when it is left out, which keeps it out of shell history.")
@click.option("--role", type=click.Choice(users.ROLES), default="member", show_default=True, help="What they may do.")
@JSON
def create(email: str, password: str | None, role: str, as_json: bool) -> None:
    """Make a login, with an API key that is shown this once."""
    secret = click.prompt("Password", hide_input=True, err=True) if password is None else password
    with opened() as service:
        made = users.create(service.store, service.clock, email=email, password=secret, role=role)
        key = api_keys.give(service.store, service.clock, made.id)
    facts = {"id": made.id, "email": made.email, "role": made.role, "api_key": key}
    show(facts, as_json, "The login was made. Its API key is shown this once.")


@user.command("api-key")
@click.option("--email", required=True, help="Whose key.")
@JSON
def api_key(email: str, as_json: bool) -> None:
    """Give somebody another API key; the one before ends at once."""
    with opened() as service:
        person = users.by_email(service.store, email)
        if person is None:
            raise NotFound(f"Nobody signs in as {email}; `patchbay user list` shows who does.")
        key = api_keys.give(service.store, service.clock, person.id)
    show({"id": person.id, "email": person.email, "api_key": key}, as_json, "The key is shown this once.")


@user.command("list")
@JSON
def list_(as_json: bool) -> None:
    """Everybody who can sign in, oldest first."""
    with opened() as service:
        people = users.all_users(service.store)
    rows = [
        {"id": person.id, "email": person.email, "role": person.role, "created_at": iso(person.created_at)}
        for person in people
    ]
    table(rows, as_json, "users", "Nobody can sign in yet; `patchbay user create` makes a login.")
