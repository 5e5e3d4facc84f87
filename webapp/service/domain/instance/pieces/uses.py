"""What integrations are used for: accounts of their apps, and deployed triggers, each pinned to its version."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from webapp.service.domain.instance.pieces import contents, rows
from webapp.service.domain.instance.pieces.contents import Contents
from webapp.service.domain.instance.pieces.rows import Piece
from webapp.store.contract import Reader, among


@dataclass(frozen=True, slots=True)
class Uses:
    """How many accounts are connected to the apps that it made, and how many of its triggers are deployed, by the
    version that they are pinned to."""

    accounts: int
    by_version: Counter[str]

    @property
    def triggers(self) -> int:
        """How many triggers are deployed, in any version."""
        return self.by_version.total()

    @property
    def sentence(self) -> str:
        """In words, such as "4 accounts, 2 triggers"; "" where nobody uses it."""
        counts = ((self.accounts, "account"), (self.triggers, "trigger"))
        return ", ".join(f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in counts if n)


def of(reader: Reader, kept: Iterable[Contents]) -> Uses:
    """The uses of an integration that has added this, in each of its versions."""
    versions = list(kept)
    apps, params = among(sorted({app for each in versions for app in each.apps}))
    accounts = reader.one(f"SELECT COUNT(*) AS n FROM accounts WHERE app IN ({apps})", params) or {}  # noqa: S608
    return Uses(int(accounts.get("n", 0)), _deployed(reader, versions))


def pinned(reader: Reader, piece: Piece) -> set[str]:
    """The versions of ``piece`` on which one of its triggers is deployed."""
    return set(_deployed(reader, [contents.of(version) for version in rows.versions(reader, piece.id)]))


def _deployed(reader: Reader, versions: Sequence[Contents]) -> Counter[str]:
    """How many of their triggers are deployed, by the version of each."""
    keys, params = among(sorted({trigger.key for each in versions for trigger in each.triggers}))
    counts = reader.tuples(
        "SELECT component_version, COUNT(*) FROM deployed_triggers "  # noqa: S608
        f"WHERE component_key IN ({keys}) GROUP BY component_version",
        params,
    )
    return Counter({version: int(n) for version, n in counts})
