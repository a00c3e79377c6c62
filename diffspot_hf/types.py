"""The package's vocabulary: what goes to a model, what comes back, and what is made of it.

Everything here is a frozen dataclass of plain data. Pictures travel as encoded bytes and are decoded once, on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

if TYPE_CHECKING:
    from PIL import Image

State = Literal["ok", "unparsed", "empty", "truncated", "refused", "error"]
STATES: tuple[State, ...] = get_args(State)
"""Every row of a run is in exactly one of these; their counts always sum to the number of rows."""

FinishReason = Literal["stop", "length", "refusal", "error"]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Picture:
    """One encoded image (PNG, WebP, JPEG, …) as it lies in the data set.

    `name` appears in error messages only; it is never sent to a model.
    """

    data: bytes = field(repr=False)
    name: str = "image"

    @cached_property
    def rgb(self) -> Image.Image:
        """The decoded upright picture, mode RGB, alpha laid over white. Raises `UsageError` on a broken file."""
        from .images import decode_rgb

        return decode_rgb(self.data, self.name)

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the decoded pixels and size, so that two encodings of one picture are the same picture."""
        from .images import pixel_digest

        return pixel_digest(self.rgb)


Part = str | Picture


@dataclass(frozen=True)
class Request:
    """What one row asks of a model: one user turn of texts and pictures, in order. It carries no ground truth."""

    id: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "\n".join(p for p in self.parts if isinstance(p, str))

    @property
    def pictures(self) -> tuple[Picture, ...]:
        return tuple(p for p in self.parts if isinstance(p, Picture))


@dataclass(frozen=True)
class ImageSeen:
    """Size in pixels of one picture before and after the model's own processing (None where it cannot be known)."""

    width: int
    height: int
    sha256: str
    processed_width: int | None = None
    processed_height: int | None = None
    visual_tokens: int | None = None


@dataclass(frozen=True)
class Attempt:
    """One try to get an answer for a row: by which route, how it ended, how long it took."""

    route: str
    state: str
    seconds: float
    detail: str = ""


@dataclass(frozen=True)
class Response:
    """What a model gave back for the request `id`.

    `text` is the reply as it came, thinking included; `reasoning` is what a server returned in a field of its own.
    """

    id: str
    text: str
    finish_reason: FinishReason = "stop"
    reasoning: str | None = None
    error: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    images: tuple[ImageSeen, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Prediction:
    """A reply as the benchmark reads it: a state, and a value that is only meaningful in `ok` or `truncated`.

    `notes` is what else reading it showed and a record should keep, such as boxes that had to be dropped.
    """

    id: str
    state: State
    value: Any = None
    notes: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Model(Protocol):
    """A way of answering. `generate` is an iterator: each answer is stored as it arrives.

    Responses may come in any order but exactly one for each request. A row that cannot be answered is a `Response`
    with `finish_reason="error"`, never an exception and never a missing row.
    """

    def generate(self, requests: Iterable[Request]) -> Iterator[Response]: ...

    def describe(self) -> Mapping[str, Any]:
        """What the run card says of this model: at least `id`; with weights also revision, dtype, processor class."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Reads a free-text reply against the ground truth. Returns the official DiffSpot judge schema:
    ``{"mutations": [{gt, type, verdict, vlm_match}], "hallucinations": [str], "summary": {…}}``."""

    name: str

    def judge(self, *, mutation: Mapping[str, Any] | None, ground_truth_diff: str, reply: str) -> dict[str, Any]: ...


@runtime_checkable
class Benchmark(Protocol):
    """A benchmark in one file: what a row is, what we ask, how a reply is read, how it is scored."""

    name: str
    dataset: str
    """Name of its data set, as `load_dataset` knows it."""
    judged: bool
    """Whether a free-text judge stands between the replies and the score."""
    columns: Sequence[str]
    """Columns without which a row cannot be asked or scored."""
    prompt_version: str
    prompt: str
    settings: Mapping[str, Any]
    """How this object is configured, as far as answers depend on it; part of a run's identity."""
    schema: Mapping[str, Any] | None
    """JSON schema of the asked answer; None where free text is asked for."""

    def configured(self, model: str, options: Any) -> Benchmark:
        """This benchmark as it must be asked of `model` under `options` (a `ModelOptions`)."""
        ...

    def request(self, row: Row, prompt: str) -> Request: ...

    def read(self, row: Row, response: Response) -> Prediction: ...

    def scripted(self, kind: str, row: Row, seed: int) -> str:
        """The reply of the control `kind` (``oracle``, ``always-none``, ``always-generic``, ``random``) to `row`."""
        ...

    def score(self, rows: Sequence[Row], records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]: ...
