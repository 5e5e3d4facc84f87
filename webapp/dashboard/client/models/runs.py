"""What a run gave, and the history of runs, as the Connect API tells them (contract "Observations", "Run")."""

from typing import Any

from pydantic import Field

from webapp.dashboard.client.models.lenient import Json, Lenient, NonEmpty

UPLOADS = "$filestash_uploads"


class Observation(Lenient):
    """A line of a run's log (section 2.6a); ``at`` is in epoch milliseconds."""

    at: int | None = Field(default=None, alias="ts")
    message: str = Field(default="", alias="msg")
    error: dict[str, Any] = Field(default={}, alias="err")
    kind_given: NonEmpty = Field(default="log", alias="k")

    @property
    def kind(self) -> str:
        """``log``, ``error`` or what else the service calls it."""
        return "error" if self.error else self.kind_given

    @property
    def text(self) -> str:
        """The line itself."""
        return self.message or str(self.error.get("message") or self.error.get("name") or "")

    @property
    def detail(self) -> str:
        """Where the error came from."""
        return str(self.error.get("stack") or "")


class WrittenFile(Lenient):
    """A file that a run wrote; ``key`` is its key in the file stash, which runs and exports name differently."""

    exported_key: str = Field(default="", alias="s3Key")
    key: NonEmpty = Field(default_factory=lambda data: data["exported_key"], validate_default=True, alias="s3_key")
    path: NonEmpty = Field(default_factory=lambda data: data["key"])
    name: NonEmpty = Field(default_factory=lambda data: data["path"])


class _Uploads(Lenient):
    """The export that lists the files of a run."""

    files: tuple[WrittenFile, ...] = Field(default=(), alias="$filestash_uploads")


class Outcome(Lenient):
    """What a run gave. ``error`` is a sentence where the service tells one."""

    took_ms: int | None = None
    result: Any = Field(default=None, alias="ret")
    all_exports: dict[str, Any] = Field(default={}, alias="exports")
    logs: tuple[Observation, ...] = Field(default=(), alias="os")
    error: str = ""
    ok_given: bool | None = Field(default=None, alias="ok")
    summary_given: str = Field(default="", alias="summary")
    status: str = ""
    truncated: bool = False
    kept_files: tuple[WrittenFile, ...] = Field(default=(), alias="files")

    @property
    def files(self) -> tuple[WrittenFile, ...]:
        """The files that it wrote and that were kept."""
        return self.kept_files or _Uploads.model_validate(dict(self.all_exports)).files

    @property
    def open(self) -> bool:
        """Whether what comes of it is not known: it still runs, or it was cut off."""
        return self.status in ("running", "unknown")

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return not self.problem if self.ok_given is None else self.ok_given

    @property
    def problem(self) -> str:
        """Why it failed; "" when it did not."""
        return next((line.text for line in self.logs if line.kind == "error"), "") or self.error

    @property
    def lacking(self) -> dict[str, tuple[str, ...]]:
        """The OAuth scopes that it needed, by the account that was not given them."""
        errors = [line.error for line in self.logs if line.error.get("lacking_scopes")]
        return {str(each.get("account_id", "")): tuple(map(str, each["lacking_scopes"])) for each in errors}

    @property
    def summary(self) -> str:
        """What it did, in one sentence of the component's own."""
        exported = self.all_exports.get("$summary")
        return self.summary_given or (exported if isinstance(exported, str) else "")

    @property
    def exports(self) -> Json:
        """What it handed out besides its result, its summary and its files."""
        return {name: value for name, value in self.all_exports.items() if name not in ("$summary", UPLOADS)}


class StashedFile(Lenient):
    """A file of the file stash (contract "File stash"). ``key`` is its value for a prop, ``url`` downloads it."""

    id: str = ""
    key: str = Field(default="", alias="s3_key")
    name: str = ""
    size: int = 0
    url: str = Field(default="", alias="get_url")


class Run(Outcome):
    """One entry of the run history (an extension)."""

    id: str = ""
    started_at: str | int | None = None
    created_at: str | int | None = None
    inputs: dict[str, Any] = Field(default={}, alias="configured_props")
    dynamic_id: str = Field(default="", alias="dynamic_props_id")
    agent: str = ""
    component_key: str = ""
    app: str = ""

    @property
    def at(self) -> str | int | None:
        """When it began, else when it was asked for."""
        return self.created_at if self.started_at is None else self.started_at

    @property
    def summary(self) -> str:
        """What it did, else why it failed."""
        return super().summary or self.error or self.problem
