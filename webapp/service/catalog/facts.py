"""The base of every model of ``app.toml``: frozen, closed to unknown keys; and the small types that they share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
# An address as an app declares it: https, or a template that begins with a field or an installation's variable.
Address = Annotated[str, StringConstraints(pattern=r"^(https?://|\{|\$\{)[^\s\\]*$", max_length=2000)]


class Facts(BaseModel):
    """Facts that were read once and never change; a key that is not declared here is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")
