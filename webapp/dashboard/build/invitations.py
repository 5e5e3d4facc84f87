"""Inviting people on Build: People. A link is shown once, in the response to the person who created it."""

from flask import flash, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu, people
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.pages import go
from webapp.errors import Conflict, Invalid
from webapp.kit.translation import gettext
from webapp.people import invitations, roles, users

blueprint = menu.part_of("people", "invitations", "/invitations")

MOST = 50


@blueprint.post("")
def invite() -> AnyResponse:
    """Invite every address of the form, or none."""
    text, role = request.form.get("emails", ""), request.form.get("role", "")
    addresses, board = invitations.addresses(text), dashboard()
    try:
        _check(addresses, role)
        rows = invitations.invite_all(board.store, board.clock, addressees=addresses, role=role)
    except (Conflict, Invalid) as error:
        return people.show(emails=text[:10_000], invited_as=role, error=error.message, code=422)
    return people.show(links=[(row.email, _link(token)) for row, token in rows])


@blueprint.post("/<invitation_id>/renewal")
def renew(invitation_id: str) -> AnyResponse:
    """Invite an address again."""
    invitation, token = invitations.renew(dashboard().store, dashboard().clock, invitation_id)
    return people.show(links=[(invitation.email, _link(token))])


@blueprint.get("/<invitation_id>/withdrawal")
def withdrawal_page(invitation_id: str) -> str:
    """Ask before a link stops working."""
    invitation = invitations.get(dashboard().store, invitation_id)
    return render_template(
        "dashboard/build/question.html",
        crumb=gettext("People"),
        heading=gettext("Withdraw the invitation?"),
        text=gettext("The link that {email} was given stops working.").format(email=invitation.email),
        confirm_url=url_for("dashboard.build_people_invitations.withdraw", invitation_id=invitation.id),
        button=gettext("Withdraw"),
        back_url=url_for("dashboard.build_people.page"),
    )


@blueprint.post("/<invitation_id>/withdrawal")
def withdraw(invitation_id: str) -> AnyResponse:
    """Take an invitation back."""
    board = dashboard()
    with board.store.write() as tx:
        invitations.withdraw(tx, board.clock(), invitation_id)
    flash(gettext("The invitation is withdrawn."), "ok")
    return go(url_for("dashboard.build_people.page"))


def _check(addresses: list[str], role: str) -> None:
    """Raise :class:`Invalid` or :class:`Conflict` with a sentence about the first address that cannot be invited."""
    roles.check(role)
    if not addresses:
        raise Invalid(gettext("Enter the address of somebody to invite."))
    if len(addresses) > MOST:
        raise Invalid(gettext("Invite at most {count} people at once.").format(count=MOST))
    for email in addresses:
        if users.checked_email(email)[1]:
            sentence = gettext("“{email}” is not an e-mail address; write it as name@example.com.")
            raise Invalid(sentence.format(email=email[: users.MAX_EMAIL]))
        if users.by_email(dashboard().store, email):
            raise Conflict(gettext("{email} has a login already. Take it out of the list.").format(email=email))


def _link(token: str) -> str:
    return invitations.link(dashboard().settings.public_url, token)
