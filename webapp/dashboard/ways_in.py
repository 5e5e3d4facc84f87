"""The pages by which people come in, by their endpoints."""

# What somebody who is not signed in may open.
OPEN = frozenset(
    {
        "dashboard.start.page",
        "dashboard.start.create",
        "dashboard.session.page",
        "dashboard.session.create",
        "dashboard.second_step.page",
        "dashboard.second_step.create",
        "dashboard.passkey.options",
        "dashboard.passkey.create",
        "dashboard.new_password.page",
        "dashboard.new_password.save",
        "dashboard.invitation.page",
        "dashboard.invitation.accept",
        "dashboard.oidc.begin",
        "dashboard.oidc.finish",
        "dashboard.portal.show",
        "dashboard.portal.renew",
    }
)
# What lets nobody in where people sign in at a provider alone.
BY_PASSWORD = frozenset(
    {
        "dashboard.session.create",
        "dashboard.second_step.create",
        "dashboard.passkey.options",
        "dashboard.passkey.create",
        "dashboard.new_password.page",
        "dashboard.new_password.save",
        "dashboard.invitation.accept",
    }
)
