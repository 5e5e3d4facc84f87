"""The checker: what must hold in a catalog, every breach as ``path: sentence``. Rules of one app stand in ``rules``."""

from collections.abc import Iterator
from dataclasses import dataclass

from webapp.service.catalog import logos, rules
from webapp.service.catalog.sources import Source, Sources


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table that ``patchbay catalog check`` prints."""

    slug: str
    name: str
    auth_type: str
    actions: int
    triggers: int
    categories: tuple[str, ...]
    problems: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found: the apps that may be served, a row for each app, and all problems as ``path: sentence``."""

    sound: tuple[Source, ...]
    rows: tuple[Row, ...]
    problems: tuple[str, ...]


def judge(sources: Sources) -> Verdict:
    """Tell the sound apps from those with problems."""
    logos.load(source.spec.logo.icon for source in sources.apps if source.spec.logo.icon)
    taken: dict[str, Source] = {}
    sound, rows, problems = [], [], list(sources.problems)
    for source in sources.apps:
        app_problems = [
            *_place(source, taken),
            *_aliases(source, sources),
            *rules.problems(source.spec, sources.categories, own=source.own),
        ]
        taken.setdefault(source.spec.slug, source)
        rows.append(_row(source, len(app_problems)))
        problems += [f"{source.path}: {sentence}" for sentence in app_problems]
        if not app_problems:
            sound.append(source)
    return Verdict(tuple(sound), tuple(rows), tuple(problems))


def _place(source: Source, taken: dict[str, Source]) -> Iterator[str]:
    slug = source.spec.slug
    if source.path.split("/")[0] != slug:
        yield f"the folder must have the name of the slug, {slug}."
    before = taken.get(slug)
    if before is None:
        return
    if source.own and not before.own:
        yield f"there is a built-in app with the slug {slug}; give yours another."
    else:
        yield f"another app has the slug {slug} already; give this one another."


def _aliases(source: Source, sources: Sources) -> Iterator[str]:
    """A slug of the operator's own may be what a built-in app has as an alias, which it then has no longer."""
    if not source.spec.aliases:
        return
    others = [other for other in sources.apps if other is not source and other.own <= source.own]
    for alias in source.spec.aliases:
        holders = [other.spec.slug for other in others if alias in (other.spec.slug, *other.spec.aliases)]
        if alias == source.spec.slug or holders:
            yield f"the alias {alias} is a name of {next(iter(holders), alias)} already; leave it out."


def _row(source: Source, problems: int) -> Row:
    spec, keys = source.spec, {(component.kind, component.key) for component in source.components}
    return Row(
        slug=spec.slug,
        name=spec.name,
        auth_type=spec.auth_type,
        actions=sum(kind == "action" for kind, _ in keys),
        triggers=sum(kind == "trigger" for kind, _ in keys),
        categories=spec.categories,
        problems=problems,
    )
