"""Which of a person's accounts a tool works with: the only one of its app, or the one that an argument names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.errors import Invalid, NotFound
from webapp.service.domain.accounts.accounts import Account

Prop = Mapping[str, Any]
ARGUMENT = "account"


@dataclass(frozen=True, slots=True)
class AccountArgument:
    """The argument ``name`` that chooses the account for ``prop``. ``accounts`` are those of its app, oldest first."""

    name: str
    prop: Prop
    accounts: Sequence[Account]

    @property
    def usable(self) -> list[Account]:
        """Those that work, as far as is known."""
        return [account for account in self.accounts if not account.dead]

    @property
    def is_needed(self) -> bool:
        """Whether the tool does nothing without an account."""
        return not self.prop.get("optional")

    def schema(self) -> dict[str, Any]:
        """The argument as JSON Schema. Agents read best what each account is called."""
        accounts = self.usable
        told = "; ".join(f"{account.id} is {name_of(account)}" for account in accounts)
        return {
            "type": "string",
            "enum": [account.id for account in accounts],
            "description": f"The connected account to use: {told}.",
        }

    def choose(self, wanted: Any) -> Account | None:
        """The account ``wanted`` by its id or name; the only one where nothing is wanted; None where there is none.

        Raises :class:`Invalid` where one must be named, :class:`NotFound` for one that is not among them.
        """
        if wanted is None:
            if len(self.usable) > 1 and self.is_needed:
                names = ", ".join(f"{account.id} ({name_of(account)})" for account in self.usable)
                raise Invalid(f"Several accounts are connected. Say in {self.name} which one to use: {names}.")
            return self.usable[0] if len(self.usable) == 1 else None
        for account in self.accounts:
            if wanted in (account.id, account.name, account.identity_name):
                return account
        raise NotFound("There is no such account.")


def arguments(props: Sequence[Prop], accounts: Sequence[Account]) -> list[AccountArgument]:
    """One for each account that an action with ``props`` takes, of the person's ``accounts``."""
    takers = [prop for prop in props if prop["type"] == "app"]
    taken = {prop["name"] for prop in props if prop["type"] != "app"}
    return [
        AccountArgument(
            _name(prop, alone=len(takers) == 1, taken=taken),
            prop,
            [account for account in accounts if account.app == prop["app"]],
        )
        for prop in takers
    ]


def name_of(account: Account) -> str:
    """What a person calls the account."""
    return account.name or account.identity_name or account.id


def _name(prop: Prop, *, alone: bool, taken: set[str]) -> str:
    name = ARGUMENT if alone else f"{prop['name']}_{ARGUMENT}"
    return name if name not in taken else f"connected_{name}"
