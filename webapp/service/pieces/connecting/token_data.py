"""What a piece looks at of the answer that brought an OAuth token, as far as its text shows it: those members are kept
with the account."""

import re
from collections.abc import Mapping

from webapp.service.pieces.connecting.fields import field_name

MOST = 12
_STEP = r"""(?:\??\.[A-Za-z_][A-Za-z0-9_]*|(?:\?\.)?\[["'][A-Za-z0-9_-]+["']\])"""
_DATA = re.compile(rf"""\b[Aa]uth\w*\??\.data((?:{_STEP}){{1,3}})(\s*\()?""")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_TOKENS = frozenset({"access_token", "refresh_token", "expires_in", "scope", "token_type", "id_token"})


def kept(source: str) -> Mapping[str, str]:
    """Dotted paths in a token answer by the names of the fields that they become."""
    paths = list[str]()
    for match in _DATA.finditer(source):
        steps = _NAME.findall(match[1])
        steps = steps[:-1] if match[2] else steps  # the last one is a method of the value
        path = ".".join(steps)
        if steps and path not in _TOKENS and path not in paths:
            paths.append(path)
    names = dict[str, str]()
    for path in paths[:MOST]:
        names[field_name(path.replace(".", "_"), tuple(names))] = path
    return names
