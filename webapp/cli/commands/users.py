"""``patchbay user``: manages the people who sign in to the dashboard."""

import click

from webapp.cli.options import JSON, opened, show, table
from webapp.errors import NotFound
from webapp.kit.clock import iso
from webapp.people import api_keys, invitations, roles, users
from webapp.people.users import User
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.people import logins

EMAIL = click.option("--email", required=True, help="Whose login.")
ROLE = click.option(
    "--role", type=click.Choice(roles.ROLES), default=roles.DEFAULT, show_default=True, help="What they may do."
)


@click.group()
def user() -> None:
    """Manage the users of the dashboard."""


@user.command("create")
@click.option("--email", required=True, help="The address to sign in with.")
@click.option("--password", help="The password; asked for when it is left out, which keeps it out of shell history.")
@ROLE
@JSON
def create(email: str, password: str | None, role: str, as_json: bool) -> None:
    """Make a login, with an API key that is shown this once."""
    secret = click.prompt("Password", hide_input=True, err=True) if password is None else password
    with opened() as service:
        login = users.create(service.store, service.clock, email=email, password=secret, role=role)
        key = api_keys.create(service.store, service.clock, login.id)
    facts = {"id": login.id, "email": login.email, "role": login.role, "api_key": key}
    show(facts, as_json, "The login was made. Its API key is shown this once.")


@user.command("invite")
@click.option("--email", "emails", required=True, multiple=True, help="Whom to invite; may be repeated.")
@ROLE
@JSON
def invite(emails: tuple[str, ...], role: str, as_json: bool) -> None:
    """Invite people: each gets a link that makes a login, once, within 7 days."""
    rows = []
    with opened() as service:
        for email in emails:
            invitation, token = invitations.invite(service.store, service.clock, email=email, role=role)
            url = invitations.link(service.settings.public_url, token)
            rows.append({"id": invitation.id, "email": invitation.email, "role": role, "url": url})
    table(rows, as_json, "invitations", "")


@user.command("api-key")
@EMAIL
@JSON
def api_key(email: str, as_json: bool) -> None:
    """Create another API key for a user. The previous one is revoked."""
    with opened() as service:
        person = _person(service, email)
        key = api_keys.create(service.store, service.clock, person.id)
    show({"id": person.id, "email": person.email, "api_key": key}, as_json, "The key is shown this once.")


@user.command("role")
@EMAIL
@click.option("--role", type=click.Choice(roles.ROLES), required=True, help="What they may do from now on.")
@JSON
def role_(email: str, role: str, as_json: bool) -> None:
    """Change the role of a user."""
    with opened() as service:
        person = logins(service).change(_person(service, email).id, role=role)
    show(_facts(person), as_json, "The role was changed.")


@user.command("disable")
@EMAIL
@JSON
def disable(email: str, as_json: bool) -> None:
    """Disable a user: their sessions and API key end at once, their accounts and triggers stay active."""
    with opened() as service:
        person = logins(service).change(_person(service, email).id, enabled=False)
    show(_facts(person), as_json, "The login was disabled. `patchbay user enable` lets them sign in again.")


@user.command("enable")
@EMAIL
@JSON
def enable(email: str, as_json: bool) -> None:
    """Enable a disabled user."""
    with opened() as service:
        person = logins(service).change(_person(service, email).id, enabled=True)
    show(_facts(person), as_json, "The login was enabled.")


@user.command("remove")
@EMAIL
@click.confirmation_option(
    "--yes", prompt="Remove this login with its accounts, triggers and runs?", help="Do not ask."
)
@JSON
def remove(email: str, as_json: bool) -> None:
    """Remove a login, with the accounts, triggers and runs of its person."""
    with opened() as service:
        person = _person(service, email)
        logins(service).remove(person.id)
    show({"id": person.id, "email": person.email}, as_json, "The login was removed.")


@user.command("end-sessions")
@EMAIL
@JSON
def end_sessions(email: str, as_json: bool) -> None:
    """End all sessions of a user."""
    with opened() as service:
        person = _person(service, email)
        count = logins(service).end_sessions(person.id)
    show({"id": person.id, "email": person.email, "ended": count}, as_json, "They are signed out everywhere.")


@user.command("reset-link")
@EMAIL
@JSON
def reset_link(email: str, as_json: bool) -> None:
    """Create a link with which a user can set a new password, once, within 24 hours."""
    with opened() as service:
        person = _person(service, email)
        url, expires_at = logins(service).reset_link(person.id)
    facts = {"id": person.id, "email": person.email, "url": url, "expires_at": iso(expires_at)}
    show(facts, as_json, "Give them this link over a safe way; it is shown this once.")


@user.command("reset-two-step")
@EMAIL
@JSON
def reset_two_step(email: str, as_json: bool) -> None:
    """Switch two-step sign-in off for somebody who lost their phone, and remove their passkeys."""
    with opened() as service:
        person = _person(service, email)
        was_on = logins(service).reset_two_step(person.id)
    facts = {"id": person.id, "email": person.email, "was_on": was_on}
    show(facts, as_json, "They sign in with only the password.")


@user.command("list")
@JSON
def list_(as_json: bool) -> None:
    """All users, oldest first."""
    with opened() as service:
        people = users.all_users(service.store)
    table(
        [_facts(person) for person in people],
        as_json,
        "users",
        "Nobody can sign in yet; `patchbay user create` makes a login.",
    )


def _person(service: Service, email: str) -> User:
    person = users.by_email(service.store, email)
    if person is None:
        raise NotFound(f"Nobody signs in as {email}; `patchbay user list` shows who does.")
    return person


def _facts(person: User) -> dict[str, str | bool]:
    facts = {"id": person.id, "email": person.email, "role": person.role, "created_at": iso(person.created_at)}
    return {**facts, "enabled": person.enabled}
