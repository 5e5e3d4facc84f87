"""What leads to the next page of options, as it may pass through the hands of whoever asks for them.

An address goes out without the secrets of the account, and comes back only as one of the look-up's own path: a caller
cannot send the credential anywhere else by it.
"""

from urllib.parse import unquote_plus

from webapp.service.components.declared.request_form import Lookup
from webapp.service.components.declared.requests import first_address
from webapp.service.components.declared.session import Session
from webapp.service.components.masking import Mask
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import parse_url

Cursor = str | int | None


def passable(session: Session, lookup: Lookup, at: object) -> Cursor:
    """``at``, which leads to a page, as a caller may have it and give it back; None for what may not pass."""
    if lookup.pages is None or lookup.pages.by not in ("link", "url"):
        return at if isinstance(at, str | int) else None
    return _address(session, lookup, at) if isinstance(at, str) else None


def _address(session: Session, lookup: Lookup, at: str) -> str | None:
    """A whole address without the parameters that hold a secret of the account, which its requests carry anyway."""
    own = parse_url(session.http.absolute(first_address(session, lookup, session.scope)))
    following = parse_url(session.http.absolute(at))
    if isinstance(own, Failure) or isinstance(following, Failure) or own.origin != following.origin:
        return None
    path, _, query = following.target.partition("?")
    if path != own.target.partition("?")[0]:
        return None
    masks = [Mask.of_account(grant) for grant in session.call.accounts.values()]
    kept = "&".join(each for each in query.split("&") if not any(_holds_secret(mask, each) for mask in masks))
    address = f"{following.scheme}://{following.authority}{path}" + (f"?{kept}" if kept else "")
    return None if _holds_secret(Mask.of(session.call), address) else address


def _holds_secret(mask: Mask, text: str) -> bool:
    return any(mask(form) != form for form in (text, unquote_plus(text)))
