"""What authenticator apps know is sealed with the keys of the installation, and anew by a rotation."""

import pyotp

from webapp.people import users
from webapp.people.totp import Totp
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import rotation
from webapp.service.domain.instance.two_step import TotpSealer


def test_a_secret_is_sealed_and_outlives_a_rotation(service: Service) -> None:
    codes = Totp(service.store, service.clock, TotpSealer(service))
    alice = users.create(service.store, service.clock, email="a@example.com", password="a long one", role="owner")
    secret = codes.begin(alice)
    (row,) = service.store.all("SELECT secret_sealed FROM totp_secrets")
    assert secret.encode() not in row["secret_sealed"]
    assert rotation.rotate(service).resealed["totp_secrets"] == 1
    assert codes.begin(alice) == secret
    assert codes.enable(alice, pyotp.TOTP(secret).at(service.clock() // 1000))
