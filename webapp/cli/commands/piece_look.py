"""What ``patchbay check`` says of integrations: whether there is a Node to run them, and whether each is whole."""

from contextlib import closing

from webapp.cli.commands.database_looks import Looks
from webapp.service.components.pieces import node
from webapp.service.domain.instance.pieces import rows, syncing
from webapp.settings import Settings
from webapp.store.stores import exists, open_store


def pieces(settings: Settings) -> Looks:
    """Whether they can run on this machine."""
    count, findings = 0, []
    if exists(settings):
        with closing(open_store(settings)) as store:
            if not store.pending():
                count = sum(1 for piece in rows.all_of(store) if piece.version)
                findings = syncing.check(store, settings.data)
    known = node.find()
    if known is None:
        yield "problem" if count else "note", node.MISSING
    else:
        yield "ok", f"Node {known.version} runs them."
    for finding in findings:
        sentence = f"{finding.piece.package} {finding.version}: {finding.sentence}"
        yield "problem", f"{sentence} Run `patchbay piece sync`, or start the worker again."
    if count and not findings:
        yield "ok", f"{count} stand whole on this machine." if count > 1 else "1 stands whole on this machine."
