"""Sign-in with passkeys (Web Authentication level 2). This module owns ``passkeys``.

The device signs a challenge that is valid only for this site, after the user has unlocked it, so a passkey replaces
both the password and the second step. The library ``webauthn`` is large and is imported on first use.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp import audit
from webapp.errors import Invalid, NotFound
from webapp.kit.clock import Clock
from webapp.kit.translation import gettext
from webapp.people import challenges, users
from webapp.people.users import User
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

MAX_NAME, MAX_PASSKEYS = 100, 20


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The site that passkeys are valid for: its host name and the origin of its pages."""

    id: str
    origin: str


@dataclass(frozen=True, slots=True)
class Passkey:
    """A user's passkey. Times are epoch milliseconds."""

    id: str
    user_id: str
    name: str
    public_key: bytes = field(repr=False)
    sign_count: int
    created_at: int
    used_at: int | None


_PASSKEYS = Table("passkeys", Passkey)


def creation_options(reader: Reader, party: RelyingParty, user: User, challenge: bytes) -> str:
    """The JSON for the browser's ``navigator.credentials.create``: a discoverable credential."""
    import webauthn
    from webauthn.helpers import base64url_to_bytes
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    known = [PublicKeyCredentialDescriptor(id=base64url_to_bytes(kept.id)) for kept in of_user(reader, user.id)]
    options = webauthn.generate_registration_options(
        rp_id=party.id,
        rp_name="Patchbay",
        user_id=user.id.encode(),
        user_name=user.email,
        challenge=challenge,
        exclude_credentials=known,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
    )
    return webauthn.options_to_json(options)


def add(
    store: Store,
    clock: Clock,
    party: RelyingParty,
    user: User,
    challenge: bytes,
    credential: Mapping[str, Any],
    name: str,
) -> Passkey:
    """Verify and store the credential that a device created. Raises :class:`Invalid`."""
    import webauthn
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        registration = webauthn.verify_registration_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, TypeError, KeyError) as error:
        raise Invalid(gettext("This device did not make a passkey that works here. Try another.")) from error
    now, key_id = clock(), bytes_to_base64url(registration.credential_id)
    name = "".join(filter(str.isprintable, name)).strip()[:MAX_NAME] or gettext("Passkey")
    passkey = Passkey(key_id, user.id, name, registration.credential_public_key, registration.sign_count, now, None)
    with store.write() as tx:
        if not challenges.spend(tx, now, challenge):
            raise Invalid(gettext("That took too long. Try again."))
        if _PASSKEYS.get(tx, key_id) or len(of_user(tx, user.id)) >= MAX_PASSKEYS:
            raise Invalid(gettext("This device has a passkey here already, or there are too many; remove one first."))
        _PASSKEYS.insert(tx, passkey)
        audit.write(tx, now, "person", user.id, "passkey_added", f"Added the passkey {name}.")
    return passkey


def request_options(party: RelyingParty, challenge: bytes) -> str:
    """The JSON for the browser's ``navigator.credentials.get``; the credential identifies the user."""
    import webauthn
    from webauthn.helpers.structs import UserVerificationRequirement

    options = webauthn.generate_authentication_options(
        rp_id=party.id, challenge=challenge, user_verification=UserVerificationRequirement.REQUIRED
    )
    return webauthn.options_to_json(options)


def authenticate(
    store: Store, clock: Clock, party: RelyingParty, challenge: bytes, credential: Mapping[str, Any]
) -> User:
    """The user whose passkey signed ``challenge``. Raises :class:`Invalid`. The caller checks ``enabled``."""
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    refused = Invalid(gettext("This passkey is not known here. Sign in with your password."))
    key_id = str(credential.get("id"))
    passkey = _PASSKEYS.get(store, key_id) if key_id.isascii() else None
    if passkey is None:
        raise refused
    try:
        verified = webauthn.verify_authentication_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, TypeError, KeyError) as error:
        raise refused from error
    with store.write() as tx:
        if not challenges.spend(tx, clock(), challenge):
            raise Invalid(gettext("That took too long. Try again."))
        if not _PASSKEYS.update(tx, passkey.id, sign_count=verified.new_sign_count, used_at=clock()):
            raise refused
        return users.get(tx, passkey.user_id)


def of_user(reader: Reader, user_id: str) -> list[Passkey]:
    """A user's passkeys, oldest first."""
    return _PASSKEYS.all(reader, "user_id = :user ORDER BY created_at, id", {"user": user_id})


def user_ids(reader: Reader) -> set[str]:
    """The ids of the users who have a passkey."""
    return {user_id for (user_id,) in reader.tuples("SELECT DISTINCT user_id FROM passkeys")}


def remove(tx: Tx, now: int, user_id: str, passkey_id: str) -> None:
    """Delete one of a user's passkeys. Raises :class:`NotFound`."""
    passkey = _PASSKEYS.get(tx, passkey_id)
    if passkey is None or passkey.user_id != user_id:
        raise NotFound(gettext("There is no such passkey."))
    _PASSKEYS.delete(tx, passkey_id)
    audit.write(tx, now, "person", user_id, "passkey_removed", f"Removed the passkey {passkey.name}.")


def remove_all(tx: Tx, now: int, user_id: str) -> int:
    """Delete all passkeys of a user and return their number."""
    kept = of_user(tx, user_id)
    for passkey in kept:
        remove(tx, now, user_id, passkey.id)
    return len(kept)
