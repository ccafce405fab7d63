"""Many simulations of what the user gives: scenes, or a function that makes them of parameters."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from pliant.checks import device_name, shown, whole
from pliant.errors import PliantError, SceneError
from pliant.many.simulations import Simulations, twin
from pliant.scene.scene import Scene
from pliant.simulation import Simulation

# How many simulations there may be at once.
MOST = 100_000


def simulate_many(
    scenes: Iterable[Scene] | Callable[..., Scene] | Scene,
    dt: float,
    parameters: Iterable | None = None,
    *,
    count: int | None = None,
    solver=None,
    device: str = "cpu",
    precision: str = "float64",
    workers: int | None = None,
) -> Simulations:
    """Simulations of many scenes at once with time step `dt` [s].

    scenes: a list of scenes; or a function that returns one, called with each of `parameters` (a mapping is given as
    keywords, anything else as the one argument); or one scene, of which there are `count` simulations. Simulations of
    the same Scene share their model.

    solver, precision: as of pliant.Simulation. device: "cpu", or "cuda" for scenes of one structure. workers: how many
    processes take steps on the CPU; 1 for none but this one; None for as many as there are cores, which are started
    once steps have taken a few seconds. Results do not depend on it: all bits are those of single simulations.
    """
    made, given = _scenes(scenes, parameters, count)
    options = {"solver": solver, "precision": precision, "threads": 1}
    place = device_name(device)
    sims: list[Simulation] = []
    numbers: dict[int, int] = {}  # of scenes, by identity
    for i, scene in enumerate(made):
        first = numbers.setdefault(id(scene), i)
        sims.append(twin(sims[first]) if first < i else _built(i, scene, dt, options))
    order = [numbers[id(scene)] for scene in made]
    if place == "cuda":
        if workers is not None:
            raise SceneError("workers take steps on the CPU; device 'cuda' has none")
        from pliant.many.resident import ResidentSimulations  # what it needs is not everywhere

        return ResidentSimulations(sims, order, given)
    return Simulations(sims, order, given, workers)


def _built(i: int, scene: Scene, dt: float, options: dict) -> Simulation:
    try:
        return Simulation(scene, dt, **options)
    except PliantError as error:
        raise type(error)(f"scene {i}: {error}") from error


def _scenes(scenes, parameters, count) -> tuple[list[Scene], list]:
    """The scenes, and what each was made of (None where it was given)."""
    if isinstance(scenes, Scene):
        if parameters is not None:
            raise SceneError("parameters go with a function that makes scenes, not with a scene")
        if count is None:
            raise SceneError("one scene needs a count of simulations; several scenes are given as a list")
        made = [scenes] * whole(count, "count", 1, MOST)
        return made, [None] * len(made)
    if count is not None:
        raise SceneError("count goes with one scene; a list of scenes, or of parameters, says how many there are")
    if callable(scenes):
        return _made(scenes, parameters)
    if parameters is not None:
        raise SceneError("parameters go with a function that makes scenes, not with scenes")
    made = _listed(scenes, "scenes", "a list of scenes, a function that makes them, or one scene")
    for i, scene in enumerate(made):
        if not isinstance(scene, Scene):
            raise SceneError(f"scene {i} must be a pliant.Scene, got {shown(scene)}")
    return made, [None] * len(made)


def _made(make: Callable, parameters) -> tuple[list[Scene], list]:
    if parameters is None:
        raise SceneError("a function that makes scenes needs parameters: one for each simulation")
    made, given = [], _listed(parameters, "parameters", "one for each simulation, in a list")
    for i, one in enumerate(given):
        try:
            scene = make(**one) if isinstance(one, Mapping) else make(one)
        except PliantError as error:
            raise type(error)(f"scene {i}, of parameters {shown(one)}: {error}") from error
        except Exception as error:
            reason = f"the function raised {type(error).__name__}: {error}"
            raise SceneError(f"scene {i}, of parameters {shown(one)}: {reason}") from error
        if not isinstance(scene, Scene):
            raise SceneError(f"scene {i}, of parameters {shown(one)}: the function returned {shown(scene)}, no scene")
        made.append(scene)
    return made, given


def _listed(things, name: str, rule: str) -> list:
    if isinstance(things, str | Mapping) or not isinstance(things, Iterable):
        raise SceneError(f"{name} must be {rule}, got {shown(things)}")
    found = list(islice(things, MOST + 1))
    if len(found) > MOST:
        raise SceneError(f"{name} must be at most {MOST}, there are more")
    if not found:
        raise SceneError(f"{name} must not be empty: there is nothing to simulate")
    return found
