import pytest

from webapp.kit import secrets


def test_what_is_sealed_opens_with_the_same_key_and_context() -> None:
    key = secrets.new_key()
    sealed = secrets.seal(key, b"canary", "proj_1|accounts|apn_1|credentials|1")
    assert secrets.open_sealed(key, sealed, "proj_1|accounts|apn_1|credentials|1") == b"canary"
    assert b"canary" not in sealed


def test_sealing_twice_gives_different_bytes() -> None:
    key = secrets.new_key()
    assert secrets.seal(key, b"same", "place") != secrets.seal(key, b"same", "place")


def test_another_key_place_or_byte_does_not_open() -> None:
    key = secrets.new_key()
    sealed = secrets.seal(key, b"canary", "row 1")
    attempts = [(secrets.new_key(), sealed, "row 1"), (key, sealed, "row 2")]
    attempts += [(key, sealed[:i] + bytes([sealed[i] ^ 1]) + sealed[i + 1 :], "row 1") for i in range(len(sealed))]
    attempts += [(key, sealed[:length], "row 1") for length in range(len(sealed))]
    for wrong_key, wrong_sealed, wrong_context in attempts:
        with pytest.raises(secrets.CannotOpen):
            secrets.open_sealed(wrong_key, wrong_sealed, wrong_context)


def test_a_derived_key_depends_on_the_key_and_the_purpose() -> None:
    key = secrets.new_key()
    assert secrets.derive(key, "cookies") == secrets.derive(key, "cookies")
    assert len({secrets.derive(key, "cookies"), secrets.derive(key, "wrap"), secrets.derive(b"k" * 32, "cookies")}) == 3
    assert len(secrets.derive(key, "wrap")) == secrets.KEY_BYTES


def test_derive_is_hkdf_sha256_as_rfc_5869_has_it() -> None:
    """Test case 3 of RFC 5869 (no salt, no info), its first 32 bytes."""
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert secrets.derive(b"\x0b" * 22, "").hex() == expected
