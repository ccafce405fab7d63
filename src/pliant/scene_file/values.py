"""The values of a scene file: the type of each is a check, and what is allowed in words."""

import math
import re
from collections.abc import Callable
from numbers import Integral, Real
from typing import Annotated, Any, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from pliant.checks import LABEL_RULE, LARGEST, SMALLEST, label, unit_quaternion, unit_vector
from pliant.errors import SceneError
from pliant.scene.selections import from_text
from pliant.scene.shapes import inertia_matrix
from pliant.scene_file.problems import did_you_mean

FORMAT = 1
"""The number of this file format."""

OUTPUT_SUFFIXES = (".pvd", ".vtu", ".png", ".webp", ".gif")
"""What a run may write; a name with one of these suffixes, or the suffix alone to take the scene file's name."""


def problem(what: str, allowed: str, kind: str = "scene") -> PydanticCustomError:
    """What is wrong with a value and what is allowed there."""
    return PydanticCustomError(kind, "{what}; allowed: {allowed}", {"what": what, "allowed": allowed})


def leaf(check: Callable[[Any], Any], allowed: str) -> Any:
    """The type of one value: `check` returns it cleaned, or raises ValueError (or SceneError) with what is wrong."""

    def validate(value: Any) -> Any:
        try:
            return check(value)
        except ValueError as error:
            raise problem(str(error), allowed) from None

    return Annotated[Any, PlainValidator(validate), Field(description=allowed)]


def finite(value: Any) -> float:
    """A finite number, whole or not; text and booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError("is not a number")
    if not isinstance(value, int) and not math.isfinite(value):
        raise ValueError("is not finite")
    if abs(value) > LARGEST:
        raise ValueError(f"is larger than {LARGEST:g}")
    return float(value)


def not_zero(value: Any) -> float:
    """A finite number that something can be divided by."""
    if (result := finite(value)) == 0:
        raise ValueError("is 0")
    return result


def real(low: float = -math.inf, high: float = math.inf, *, open_low: bool = False, open_high: bool = False) -> Any:
    """The type of a finite number between two bounds, each included unless open."""

    def check(value: Any) -> float:
        result = finite(value)
        if result < low or result > high or (open_low and result == low) or (open_high and result == high):
            raise ValueError("is out of range")
        if open_low and low == 0 and result < SMALLEST:
            raise ValueError(f"is smaller than {SMALLEST:g}")
        return result

    below = f"{'above' if open_low else 'at least'} {low:g}" if low > -math.inf else ""
    above = f"{'below' if open_high else 'at most'} {high:g}" if high < math.inf else ""
    return leaf(check, f"a finite number {' and '.join(filter(None, (below, above)))}".strip())


def whole_number(value: Any) -> int:
    """A whole number; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError("is not a whole number")
    return int(value)


def whole(low: int, high: int) -> Any:
    """The type of a whole number between two bounds, both included."""

    def check(value: Any) -> int:
        if not low <= whole_number(value) <= high:
            raise ValueError("is out of range")
        return int(value)

    return leaf(check, f"a whole number from {low} to {high}")


def finite_list(value: Any, size: int) -> list[float]:
    """A list of so many finite numbers."""
    if not isinstance(value, list | tuple) or len(value) != size:
        raise ValueError(f"is not an array of {size} numbers")
    return [finite(entry) for entry in value]


def positive_list(value: Any, size: int) -> list[float]:
    """A list of so many positive numbers."""
    if min(numbers := finite_list(value, size)) < SMALLEST:
        raise ValueError("is out of range")
    return numbers


def cell_counts(value: Any, size: int) -> int | list[int]:
    """A number of cells for all axes, or one for each."""
    counts = value if isinstance(value, list) else [value]
    if any(isinstance(entry, bool) or not isinstance(entry, Integral) or entry < 1 for entry in counts):
        raise ValueError("is not made of whole numbers above 0")
    if isinstance(value, list) and len(value) != size:
        raise ValueError(f"is not an array of {size} whole numbers")
    return value


def choice(*known: str) -> Any:
    """The type of one of a few words."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError("is not one of the choices" + did_you_mean(value, known))
        return value

    return leaf(check, ", ".join(map(repr, known)))


def instance(kind: type, what: str) -> Any:
    """The type of anything of a Python type: `what` names it."""

    def check(value: Any) -> Any:
        if not isinstance(value, kind):
            raise ValueError(f"is not {what}")
        return value

    return leaf(check, what)


def labelled(value: Any) -> str:
    """A name of a body or a joint."""
    try:
        return label(value, "it")
    except SceneError:
        raise ValueError("is not a name") from None


def normalised(value: Any, normalise: Callable, size: int) -> list[float]:
    """A direction or a rotation of length 1."""
    numbers = finite_list(value, size)
    try:
        return list(normalise(numbers, "it"))
    except SceneError:
        raise ValueError("has no length") from None


def format_number(value: Any) -> int:
    """The number of this file format."""
    if isinstance(value, bool) or value != FORMAT:
        raise ValueError("is not a format that this version reads")
    return FORMAT


def poisson_ratio(value: Any) -> float:
    """A ratio for which the moduli are positive and finite."""
    result = finite(value)
    if result == 0.5:
        raise ValueError("is incompressible, the bulk modulus is infinite; try 0.49")
    if not -1 < result < 0.5:
        raise ValueError("is out of range")
    return result


def index_list(value: Any, kind: str) -> list[int]:
    """A list of numbers of nodes or faces (the `kind`)."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"is not an array of {kind} numbers")
    if any(isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < 2**31 for index in value):
        raise ValueError("is not an array of whole numbers from 0")
    return value


def number_list(value: Any) -> list[float]:
    """A list of finite numbers."""
    if not isinstance(value, list):
        raise ValueError("is not an array of numbers")
    return [finite(entry) for entry in value]


def named_numbers(value: Any) -> dict[str, float]:
    """A table of names and finite numbers."""
    if not isinstance(value, dict) or not all(name.isidentifier() for name in value):
        raise ValueError("is not a table of names and numbers")
    return {name: finite(entry) for name, entry in value.items()}


def number_rows(value: Any) -> list[list[float]]:
    """A list of equally long lists of finite numbers."""
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise ValueError("is not an array of arrays of numbers")
    if len({len(row) for row in value}) > 1:
        raise ValueError("has rows of different lengths")
    return [number_list(row) for row in value]


def points_or_file(value: Any) -> str | list[list[float]]:
    """A list of points, or the name of a file."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise ValueError("is neither an array of points nor a file")
    return [finite_list(point, 3) for point in value]


def two_names(value: Any) -> list[str]:
    """The names of two things."""
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(name, str) for name in value):
        raise ValueError("is not an array of two names")
    return value


def selection_text(value: Any) -> str:
    """A comparison of coordinates with numbers, or "all"."""
    if not isinstance(value, str):
        raise ValueError("is not a selection")
    from_text(value)
    return value


def axes_of(value: Any) -> str:
    """Letters of xyz."""
    if not isinstance(value, str) or not value or set(value) - set("xyz"):
        raise ValueError("is not made of these letters")
    return value


def inertia_of(value: Any) -> list:
    """One, three or nine numbers that make an inertia."""
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        value = [finite_list(row, 3) for row in value]
    else:
        value = finite_list(value, 3) if isinstance(value, list) else finite(value)
    inertia_matrix(value)
    return value


def output_name(value: Any) -> str:
    """A file name without folders, or a suffix alone: nothing that could lead out of the output folder."""
    if not isinstance(value, str) or not re.fullmatch(r"[\w. +-]{1,100}", value) or ".." in value or value[0] in " -":
        raise ValueError("is not a plain file name (no folders, no '..')")
    suffix = value[value.rfind(".") :] if "." in value else ""
    if suffix not in OUTPUT_SUFFIXES:
        raise ValueError("has no known suffix" + did_you_mean(suffix, OUTPUT_SUFFIXES))
    return value


Number = real()
Whole = leaf(whole_number, "a whole number")
Positive = real(low=0, open_low=True)
NonNegative = real(low=0)
Share = real(low=0, high=1)
NotZero = leaf(not_zero, "a finite number, not 0")
Text = instance(str, "a text")
Flag = instance(bool, "true or false")
AnyTable = instance(dict, "a table")
Vector = leaf(lambda value: finite_list(value, 3), "3 finite numbers, [x, y, z]")
Size = leaf(lambda value: positive_list(value, 3), "3 positive numbers, [x, y, z]")
Direction = leaf(lambda value: normalised(value, unit_vector, 3), "3 finite numbers, not all 0")
Quaternion = leaf(lambda value: normalised(value, unit_quaternion, 4), "4 numbers [w, x, y, z], not all 0")
Name = leaf(labelled, LABEL_RULE)
Inertia = leaf(inertia_of, "one number, 3 principal moments or a symmetric positive 3 by 3 matrix")
TwoPoints = leaf(
    lambda value: [finite_list(point, 3) for point in (value if isinstance(value, list) and len(value) == 2 else [[]])],
    "two points, [[x, y, z], [x, y, z]]",
)


class Table(BaseModel):
    """A table of known keys only; errors name the allowed keys and values."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="wrap")
    @classmethod
    def explain(cls, data: Any, handler: Callable) -> Any:
        """Say unknown keys, missing keys and wrong types in the words of this format."""
        try:
            return handler(data)
        except ValidationError as error:
            details = [cls._explained(entry) for entry in error.errors(include_url=False)]
            raise ValidationError.from_exception_data(cls.__name__, details) from None

    @classmethod
    def _explained(cls, entry: dict) -> InitErrorDetails:
        key, keys = (entry["loc"][-1] if entry["loc"] else None), list(cls.model_fields)
        kind, what, allowed = "scene", None, ", ".join(keys)
        if entry["type"] == "extra_forbidden":
            what = "unknown key" + did_you_mean(key, keys)
        elif entry["type"] == "missing":
            kind, what, allowed = (
                "scene_missing",
                "is needed",
                cls.model_fields[key].description or "a table or an array",
            )
        elif entry["type"] in ("model_type", "model_attributes_type"):
            what, allowed = "is not a table", f"a table of {allowed}"
        elif entry["type"] == "list_type":
            what, allowed = "is not an array", "an array (of tables: [[...]])"
        error = problem(what, allowed, kind)
        if what is None:  # said already, by the value itself or by a table inside
            error = PydanticCustomError(entry["type"], "{text}", {"text": entry["msg"]})
        return InitErrorDetails(type=error, loc=entry["loc"], input=entry["input"])


def one_of(other: Any = None, what: str = "", **kinds: type[Table]) -> Any:
    """The type of a table whose kind is told by which of some keys it has; `other`, `what`: what is no table."""

    def tag(value: Any) -> str | None:
        if not isinstance(value, dict):
            return "<other>" if other is not None else None
        return next((f"<{key}>" for key in kinds if key in value), None)

    members = [Annotated[kind, Tag(f"<{key}>")] for key, kind in kinds.items()]
    members += [] if other is None else [Annotated[other, Tag("<other>")]]
    allowed = "a table with one of the keys " + ", ".join(kinds) + (f"; or {what}" if what else "")
    discriminator = Discriminator(
        tag,
        custom_error_type="scene",
        custom_error_message="is none of the known kinds; allowed: {allowed}",
        custom_error_context={"allowed": allowed},
    )
    return Annotated[Union[tuple(members)], discriminator, Field(description=allowed)]  # noqa: UP007
