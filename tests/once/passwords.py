"""Passwords of tests are hashed in no time; those of the tests of hashing itself as the product does."""

from argon2 import PasswordHasher

from webapp.people import passwords

THOROUGH = passwords._hasher


def keep() -> None:
    """Begin to hash them so, for as long as this process lasts."""
    passwords._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
