"""A device with one passkey, in software: attestation none, ES256 (Web Authentication level 2, sections 6.1, 6.5)."""

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn.helpers import bytes_to_base64url

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


@dataclass
class Authenticator:
    """``flags`` says what it claims; ``origin`` is where its browser believes to be."""

    origin: str = "http://localhost"
    party: str = "localhost"
    flags: int = PRESENT | VERIFIED
    count: int = 0
    key_id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, challenge: bytes) -> dict[str, Any]:
        """What ``navigator.credentials.create`` gives, as JSON."""
        point = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (point.x, point.y))
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        attested = bytes(16) + len(self.key_id).to_bytes(2, "big") + self.key_id + public
        data = self._data(ATTESTED) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._credential("webauthn.create", challenge, attestationObject=attestation)

    def get(self, challenge: bytes) -> dict[str, Any]:
        """What ``navigator.credentials.get`` gives, as JSON."""
        self.count += 1
        data, client = self._data(), self._client("webauthn.get", challenge)
        signed = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._credential("webauthn.get", challenge, authenticatorData=data, signature=signed)

    def _data(self, more: int = 0) -> bytes:
        return hashlib.sha256(self.party.encode()).digest() + bytes([self.flags | more]) + self.count.to_bytes(4, "big")

    def _client(self, kind: str, challenge: bytes) -> bytes:
        values = {"type": kind, "challenge": bytes_to_base64url(challenge), "origin": self.origin}
        return json.dumps(values).encode()

    def _credential(self, kind: str, challenge: bytes, **response: bytes) -> dict[str, Any]:
        key_id = bytes_to_base64url(self.key_id)
        parts = {"clientDataJSON": self._client(kind, challenge), **response}
        answer = {name: bytes_to_base64url(value) for name, value in parts.items()}
        return {"id": key_id, "rawId": key_id, "type": "public-key", "response": answer}
