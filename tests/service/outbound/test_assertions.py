"""Signed statements of accounts: what they say, the keys they take, and what is said of those that are none."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from webapp.service.outbound.assertions import pem, sign
from webapp.service.outbound.templates import TemplateError

EC = ECKey.generate_key("P-256")
FILE = EC.as_pem(private=True).decode()


def statement(key: str, algorithm: Any = "ES256", **options: Any) -> str:
    fields = {"key": key, "email": "robot@example.com", "kid": "k1"}
    headers = {"kid": "{kid}", "x": "{missing}"}
    return sign(algorithm, "key", headers, {"iss": "{email}", "sub": "{missing}"}, fields, **options)


@pytest.mark.parametrize(
    "text",
    [
        FILE,
        FILE.replace("\n", ""),
        FILE.replace("\n", " "),
        FILE.replace("\n", "\r\n"),
        json.dumps({"private_key": FILE, "client_email": "robot@example.com"}),
        f"  {FILE}  ",
    ],
    ids=["file", "one line", "spaces", "windows", "json", "spaces around"],
)
def test_a_key_is_taken_as_people_have_it(text: str) -> None:
    token = jwt.decode(statement(text, life_s=60), EC, algorithms=["ES256"])
    assert (token.header["kid"], token.header["alg"], "x" in token.header) == ("k1", "ES256", False)
    assert token.claims["iss"] == "robot@example.com"
    assert "sub" not in token.claims
    assert token.claims["exp"] - token.claims["iat"] == 60


def test_the_other_algorithms() -> None:
    plain: RSAKey = RSAKey.generate_key(2048)
    jwt.decode(statement(plain.as_pem(private=True).decode(), "RS256"), plain, algorithms=["RS256"])
    secret = OctKey.import_key(bytes.fromhex("00ff" * 16))
    jwt.decode(statement("00ff" * 16, "HS256", hex_key=True), secret, algorithms=["HS256"])


def locked() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")).decode()


@pytest.mark.parametrize(
    ("key", "algorithm", "advice"),
    [
        ("canary-not-a-key", "RS256", "Key is not a private key. Paste the whole text"),
        ("", "ES256", "Key is not a private key"),
        (RSAKey.generate_key(2048).as_pem(private=False).decode(), "RS256", "Key is not a private key"),
        (FILE, "RS256", "It must be an RSA key without a passphrase"),
        (FILE.replace("M", "canary", 1), "ES256", "It must be a P-256 key without a passphrase"),
        (ECKey.generate_key("P-384").as_pem(private=True).decode(), "ES256", "It must be a P-256 key"),
        (locked(), "RS256", "It must be an RSA key without a passphrase"),
        ("zz", "HS256", "Key is not a key"),
    ],
)
def test_what_is_no_key_is_refused_with_a_sentence(key: str, algorithm: str, advice: str) -> None:
    with pytest.raises(TemplateError) as refused:
        statement(key, algorithm, hex_key=True)
    assert advice in str(refused.value)
    assert "canary" not in str(refused.value)


def test_no_key_in_a_text_without_one() -> None:
    assert pem("-----BEGIN CERTIFICATE-----x-----END CERTIFICATE-----") is None


def test_a_key_that_would_take_seconds_to_use_is_none() -> None:
    assert pem(f"-----BEGIN PRIVATE KEY-----\n{'A' * 8_100}\n-----END PRIVATE KEY-----") is None
