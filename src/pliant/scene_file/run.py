"""How `pliant run` runs a scene file: the table [run], and the same as a dataclass."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path as FilePath
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import BeforeValidator, ConfigDict, create_model
from pydantic_core import PydanticCustomError

from pliant.checks import DEVICES, vector
from pliant.errors import PliantError, SceneError
from pliant.scene.scene import Scene
from pliant.scene_file.problems import Path, Problems, show_path
from pliant.scene_file.values import (
    OUTPUT_SUFFIXES,
    Flag,
    Number,
    Positive,
    Table,
    Text,
    Vector,
    Whole,
    choice,
    instance,
    leaf,
    output_name,
    real,
    whole,
)
from pliant.solve.options import SOLVERS

PRECISIONS = ("float32", "float64")
COLORS = ("displacement", "strain", "stress", "plastic_strain", "speed", "contact_pressure", "none")


class ViewTable(Table):
    """run.camera"""

    eye: Vector = None
    target: Vector = None


class RunTable(Table):
    """[run]; the solver is checked on its own."""

    dt: Positive = None
    seconds: Positive = None
    solver: instance(object, "a solver") = None
    device: choice(*DEVICES) = None
    precision: choice(*PRECISIONS) = None
    threads: whole(1, 1024) = None
    frames_per_second: real(low=0, high=1000, open_low=True) = None
    output: list[leaf(output_name, "names or suffixes with " + ", ".join(OUTPUT_SUFFIXES))] = ()
    color: choice(*COLORS) = None
    joints: Flag = None
    contacts: Flag = None
    camera: ViewTable = None


DEFAULT_SOLVER = "newton"
"""The solver whose options a table without `type` gives."""

OPTION_TYPES = {str: Text, bool: Flag, int: Whole, float: Number}
"""What an option of a solver may be, by its kind in Python; how large, the solver says."""


class UnknownSolverTable(Table):
    """A solver of no known type: its own keys cannot be judged."""

    model_config = ConfigDict(extra="ignore")


def option_kinds(solver: type) -> dict[str, type]:
    """The options of a solver, the fields of its dataclass, and the kind of each: str, bool, int or float."""
    hints = get_type_hints(solver)
    kinds = {option.name: get_args(hints[option.name]) or (hints[option.name],) for option in fields(solver)}
    return {name: next(kind for kind in members if kind in OPTION_TYPES) for name, members in kinds.items()}


def solver_table(name: str | None) -> type[Table]:
    """The table of the solver of that name, made from the fields of its dataclass; of any solver, when unknown."""
    type_key = (choice(*SOLVERS), DEFAULT_SOLVER)
    if name not in SOLVERS:
        return create_model("SolverTable", __base__=UnknownSolverTable, type=type_key)
    solver = SOLVERS[name]
    keys = {key: (_option(solver, key, kind), None) for key, kind in option_kinds(solver).items()}
    return create_model(f"{solver.__name__}Table", __base__=Table, type=type_key, **keys)


def _option(solver: type, name: str, kind: type) -> Any:
    """The type of one option: such that the solver takes it, which knows best what it allows, and of its kind."""

    def taken(value: Any) -> Any:
        try:
            solver(**{name: value})
        except SceneError as error:
            raise PydanticCustomError("scene", "{what}", {"what": str(error)}) from None
        return value

    return Annotated[OPTION_TYPES[kind], BeforeValidator(taken)]


@dataclass(frozen=True)
class View:
    """Where the camera stands and what it looks at [m]; None: chosen to see the whole scene."""

    eye: tuple[float, float, float] | None = None
    target: tuple[float, float, float] | None = None

    def __post_init__(self):
        for key, value in self.plain().items():
            object.__setattr__(self, key, vector(value, f"camera {key}"))

    def plain(self) -> dict[str, Any]:
        """What is not left to choose."""
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class RunSettings:
    """How `pliant run` runs a scene file.

    dt: time step [s]; seconds: how long; solver: one of pliant.solve.SOLVERS; device: where it computes, "cpu" or
    "cuda"; precision: "float64", of Dual also "float32"; threads: None for all; frames_per_second: of films and series;
    output: file names, or suffixes alone to take the name of the scene file; color: the field that colours soft bodies;
    joints: whether axes, anchors and limits of joints are drawn; contacts: whether forces of contacts are; camera: None
    to see the whole scene.
    """

    dt: float = 1 / 60
    seconds: float = 2.0
    solver: Any = field(default_factory=SOLVERS[DEFAULT_SOLVER])
    device: str = "cpu"
    precision: str = "float64"
    threads: int | None = None
    frames_per_second: float = 30.0
    output: tuple[str, ...] = ()
    color: str = "displacement"
    joints: bool = False
    contacts: bool = False
    camera: View | None = None

    def __post_init__(self):
        problems = Problems("run settings")
        table = problems.validate(RunTable, self._plain(), ())
        if not isinstance(self.solver, tuple(SOLVERS.values())):
            problems.add(("solver",), repr(self.solver), f"is not a solver; allowed: {', '.join(SOLVERS)}")
        problems.finish()
        for key in ("dt", "seconds", "frames_per_second"):
            object.__setattr__(self, key, getattr(table, key))
        object.__setattr__(self, "output", tuple(table.output))

    @property
    def place(self) -> dict[str, Any]:
        """Where and how numbers are computed, for `Scene.simulate`: device, precision, threads."""
        return {"device": self.device, "precision": self.precision, "threads": self.threads}

    def _plain(self) -> dict[str, Any]:
        plain = {option.name: getattr(self, option.name) for option in fields(self) if option.name != "solver"}
        plain["camera"] = self.camera.plain() if isinstance(self.camera, View) else self.camera
        plain["output"] = list(self.output) if isinstance(self.output, tuple) else self.output
        return {key: value for key, value in plain.items() if value is not None}


@dataclass(frozen=True)
class SceneFile:
    """What a scene file holds: the scene, and how to run it. path: of the file; keys: by which of its keys a body or a
    joint is described, by its id; sources: files that it names."""

    scene: Scene
    run: RunSettings
    path: str = ""
    keys: dict[int, Path] = field(default_factory=dict, repr=False)
    sources: frozenset[FilePath] = frozenset()

    def check_outputs(self, paths: Iterable[FilePath]) -> None:
        """Refuse to write over what the scene is made of."""
        for path in paths:
            if path.resolve() in self.sources:
                raise SceneError(f"{path}: the scene is made of this file; write elsewhere, with --out")

    @contextmanager
    def addressed(self) -> Iterator[None]:
        """Put the file, and the key of what is at fault, before an error of the scene or of its solver."""
        try:
            yield
        except PliantError as error:
            key = (("run", error.about) if isinstance(error.about, str) else self.keys.get(id(error.about))) or ()
            where = f"{self.path}: {show_path(key)}" if key else self.path
            raise type(error)(f"{where}: {error}") from error


def read_run(data: Any, problems: Problems) -> RunSettings:
    """The settings in the table [run]; the defaults after noting problems."""
    path = ("run",)
    table = problems.validate(RunTable, data, path)
    solver = read_solver(data["solver"], problems, (*path, "solver")) if "solver" in data else RunSettings().solver
    if table is None or solver is None:
        return RunSettings()
    options = table.model_dump(exclude_unset=True) | {"solver": solver}
    options["camera"] = None if table.camera is None else View(**options["camera"])
    seen: dict[str, int] = {}
    for index, name in enumerate(table.output):
        if seen.setdefault(name, index) != index:
            problems.add((*path, "output", index), name, "is listed twice; allowed: each name once")
    return RunSettings(**options)


def read_solver(data: Any, problems: Problems, path: Path) -> Any:
    """The solver of `run.solver`: a name, or a table of `type` and options; None after noting problems."""
    data = {"type": data} if isinstance(data, str) else data
    name = data.get("type", DEFAULT_SOLVER) if isinstance(data, dict) else DEFAULT_SOLVER
    table = problems.validate(solver_table(name if isinstance(name, str) else None), data, path)
    if table is None:
        return None
    options = {key: value for key, value in table.model_dump(exclude_unset=True).items() if key != "type"}
    with problems.collect(path, data):
        return SOLVERS[table.type](**options)
    return None
