"""The names that authors of components import: ``Action``, ``Trigger``, the prop constructors and their types.

A component is one file with one class. The class attributes are its props, in the order in which a form shows them (a
trailing underscore is not part of the name: ``name_`` declares the prop ``name``); its methods get one
:class:`Context`. The manual has a whole example (components "An action in Python").
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from webapp.service.components.context import Account as Account
from webapp.service.components.context import Context as Context
from webapp.service.components.errors import ComponentError as ComponentError
from webapp.service.components.errors import HttpError as HttpError
from webapp.service.components.http import Http as Http
from webapp.service.components.http import HttpResponse as HttpResponse
from webapp.service.components.options import FindOptions as FindOptions
from webapp.service.components.options import Option as Option
from webapp.service.components.options import Options as Options
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
from webapp.service.components.props import Prop as Prop
from webapp.service.components.props import as_json_text as as_json_text


class Component:
    """The base class of actions and triggers. ``aliases`` are other names under which the component can be called.

    ``reads_secrets = True`` gives the component the secret fields of its account, for example for a database driver.
    Without it, ``ctx.auth`` has only the fields that are not secret.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    reads_secrets: ClassVar[bool] = False

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        """Return the props that depend on the values so far (``ctx.props``); they are added after the component's own.

        Called again whenever a prop with ``reload_props`` changes. A prop with a name that the component already has
        replaces that prop. The values of added props are in ``ctx.extra``.
        """
        return {}

    def run(self, ctx: Context) -> Any:
        """Do the work and return the result, which must be serializable as JSON."""
        raise NotImplementedError


class Action(Component):
    """Something that runs once for a caller, who gets its result.

    ``annotations`` describe the effect of running it: ``readOnlyHint``, ``destructiveHint``, ``idempotentHint`` and
    ``openWorldHint``, each true or false; ``spendsHint`` if it cannot be undone. ``stash = "optional"`` says that the
    files that it writes are kept if the caller sends a ``stash_id``.
    """

    annotations: ClassVar[Mapping[str, bool | str]] = {}
    stash: ClassVar[Literal["optional"] | None] = None


class Trigger(Component):
    """Emits events: ``run`` is called on each tick of its timer, or for each request to its endpoint.

    ``dedupe`` selects the emitted events that count: those with ``unique`` ids, with an id ``greatest`` so far, or with
    another id than the ``last`` event; None for all. A ``native`` trigger is started by the service itself, without
    a prop that says when.
    """

    dedupe: ClassVar[Literal["unique", "greatest", "last"] | None] = None
    native: ClassVar[bool] = False

    def deploy(self, ctx: Context) -> None:
        """Emit a few recent events as examples. Called once, when the trigger is deployed."""

    def activate(self, ctx: Context) -> None:
        """Subscribe to the app's events. Called when the trigger is switched on."""

    def deactivate(self, ctx: Context) -> bool | None:
        """Unsubscribe from the app's events. Called when the trigger is switched off, and after an interrupted
        :meth:`activate`, whose outcome ``ctx.db`` does not know: return true if nothing can be left at the app."""

    def renew(self, ctx: Context) -> None:
        """Renew the subscription at the app, whose end ``ctx.subscribed_until`` has said; or make it, if that end has
        passed. Called before it ends. What fails is tried again later, and the trigger polls meanwhile."""
