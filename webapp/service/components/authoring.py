"""What an author of components imports: ``Action``, ``Trigger``, the prop constructors and the types around them.

A component is one file with one class that reads like a description of the feature. Its class attributes are its
props, in the order in which a person meets them (a trailing underscore is not part of the name, so that a prop may
be called ``name_``); its methods get one :class:`Context`. The manual has a whole example (components "An action in
Python").
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from webapp.service.components.context import Account as Account
from webapp.service.components.context import Context as Context
from webapp.service.components.errors import ComponentError as ComponentError
from webapp.service.components.errors import HttpError as HttpError
from webapp.service.components.http import Http as Http
from webapp.service.components.http import HttpResponse as HttpResponse
from webapp.service.components.prop_types import airtable_base as airtable_base
from webapp.service.components.prop_types import airtable_field as airtable_field
from webapp.service.components.prop_types import airtable_table as airtable_table
from webapp.service.components.prop_types import airtable_view as airtable_view
from webapp.service.components.prop_types import alert as alert
from webapp.service.components.prop_types import any_ as any_
from webapp.service.components.prop_types import app as app
from webapp.service.components.prop_types import apphook as apphook
from webapp.service.components.prop_types import boolean as boolean
from webapp.service.components.prop_types import data_store as data_store
from webapp.service.components.prop_types import dir_ as dir_
from webapp.service.components.prop_types import discord_channel as discord_channel
from webapp.service.components.prop_types import discord_channel_list as discord_channel_list
from webapp.service.components.prop_types import http_interface as http_interface
from webapp.service.components.prop_types import http_request as http_request
from webapp.service.components.prop_types import integer as integer
from webapp.service.components.prop_types import integer_list as integer_list
from webapp.service.components.prop_types import object_ as object_
from webapp.service.components.prop_types import service_db as service_db
from webapp.service.components.prop_types import sql as sql
from webapp.service.components.prop_types import string as string
from webapp.service.components.prop_types import string_list as string_list
from webapp.service.components.prop_types import timer as timer
from webapp.service.components.props import FindOptions as FindOptions
from webapp.service.components.props import Option as Option
from webapp.service.components.props import Options as Options
from webapp.service.components.props import Prop as Prop


class Component:
    """What actions and triggers share. ``aliases`` are other names of the file, under which it is called, too.

    ``reads_secrets = True`` stands in a component that needs the secret fields of its account itself, such as for a
    database's driver; to others ``ctx.auth`` gives the open ones alone.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    reads_secrets: ClassVar[bool] = False

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        """The props that follow from the values so far (``ctx.props``): added after the component's own.

        Called again whenever a prop with ``reload_props`` changes; a name that the component has already replaces
        that prop in its place. The values of added props are in ``ctx.extra``.
        """
        return {}

    def run(self, ctx: Context) -> Any:
        """Do the work. What it returns is the result: anything that JSON can carry."""
        raise NotImplementedError


class Action(Component):
    """Something to do, once, for a person: its result goes back to the caller.

    ``annotations`` say what running it means: ``readOnlyHint``, ``destructiveHint``, ``idempotentHint`` and
    ``openWorldHint``, each true or false; ``spendsHint`` where it cannot be taken back. ``stash = "optional"`` tells
    callers that what it writes is kept where they send a ``stash_id``.
    """

    annotations: ClassVar[Mapping[str, bool | str]] = {}
    stash: ClassVar[Literal["optional"] | None] = None


class Trigger(Component):
    """Something to watch for: ``run`` is called on each tick of its timer or request, and emits what is new.

    ``dedupe`` tells which emitted events count: ``unique`` ids, ids ``greatest`` so far, or ids other than the
    ``last``; None for all. ``native`` ones are set off by the service itself in a way that no prop tells.
    """

    dedupe: ClassVar[Literal["unique", "greatest", "last"] | None] = None
    native: ClassVar[bool] = False

    def deploy(self, ctx: Context) -> None:
        """Called once, when the trigger is deployed: emit a few recent events as examples."""

    def activate(self, ctx: Context) -> None:
        """Called when the trigger is switched on: subscribe, for one that is told by the app."""

    def deactivate(self, ctx: Context) -> None:
        """Called when the trigger is switched off: unsubscribe."""
