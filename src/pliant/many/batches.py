"""Readers and setters of many simulations: arrays with one row for each."""

from collections.abc import Callable, Mapping, Set

import numpy as np

from pliant.checks import listed, shown
from pliant.errors import PliantError, SceneError
from pliant.readers.report import Energy
from pliant.scene.bodies import Rigid, Soft
from pliant.simulation import Simulation


class BatchReaders:
    """Part of Simulations: it has simulations `_sims`.

    A body or a joint is given by its name, or as one of any of the scenes, which then stands for those of its name;
    None is the only one. Rows of arrays are simulations, of which all must have values of the same shape.
    """

    _sims: list[Simulation]

    # ---- readers

    def positions(self, body: Soft | str | None = None) -> np.ndarray:
        """Node positions (count, n, 3) [m] of a soft body."""
        return self._read("positions", soft_of, body, Simulation.positions)

    def velocities(self, body: Soft | str | None = None) -> np.ndarray:
        """Node velocities (count, n, 3) [m/s] of a soft body."""
        return self._read("velocities", soft_of, body, Simulation.velocities)

    def pose(self, body: Rigid | str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Positions (count, 3) [m] and rotations (count, 4) (w, x, y, z) of a rigid body's shape."""
        return self._read_pair("poses", body, Simulation.pose)

    def twist(self, body: Rigid | str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Velocities of the centre of mass (count, 3) [m/s] and angular velocities (count, 3) [rad/s]."""
        return self._read_pair("twists", body, Simulation.twist)

    def joint_position(self, joint=None, coordinate: str | None = None) -> np.ndarray:
        """A free coordinate (count,) [rad or m] of a joint, as Simulation.joint_position."""
        return self._read("joint positions", joint_of, joint, lambda sim, own: sim.joint_position(own, coordinate))

    def joint_velocity(self, joint=None, coordinate: str | None = None) -> np.ndarray:
        """How fast it changes (count,) [rad/s or m/s]."""
        return self._read("joint velocities", joint_of, joint, lambda sim, own: sim.joint_velocity(own, coordinate))

    def motor_effort(self, joint=None, coordinate: str | None = None) -> np.ndarray:
        """Torques [N m] or forces [N] (count,) of a motor in the last step."""
        return self._read("motor efforts", joint_of, joint, lambda sim, own: sim.motor_effort(own, coordinate))

    def energy(self) -> Energy:
        """Energies by kind [J], each an array (count,)."""
        found = [sim.energy() for sim in self._sims]
        names = ("kinetic", "elastic", "gravitational", "joints")
        return Energy(**{name: np.array([getattr(energy, name) for energy in found]) for name in names})

    def _read(self, what: str, find: Callable, thing, reader: Callable) -> np.ndarray:
        return _stacked(what, self._of_each(range(len(self._sims)), find, thing, reader))

    def _read_pair(self, what: str, body, reader: Callable) -> tuple[np.ndarray, np.ndarray]:
        found = self._of_each(range(len(self._sims)), rigid_of, body, reader)
        first, second = (_stacked(what, list(values)) for values in zip(*found))
        return first, second

    def _of_each(self, numbers, find: Callable, thing, use: Callable) -> list:
        """What `use` makes of each simulation and its own body or joint."""
        found = []
        for i in numbers:
            try:
                found.append(use(self._sims[i], find(self._sims[i], thing)))
            except PliantError as error:
                raise type(error)(f"simulation {i}: {error}") from None
        return found

    # ---- setters

    def set_motor(self, joint=None, coordinate: str | None = None, only=None, **changes) -> None:
        """Change what a motor does, as Simulation.set_motor; each change is one value for all, or an array or list with
        one for each of the simulations in `only` (a number, numbers, or True and False for each; None: all)."""
        numbers = self._numbers(only)
        values = {name: for_each(value, (), len(numbers), f"motor {name}") for name, value in changes.items()}
        rows = iter([{name: own[k] for name, own in values.items()} for k in range(len(numbers))])
        self._of_each(numbers, joint_of, joint, lambda sim, own: sim.set_motor(own, coordinate, **next(rows)))

    def set_positions(self, body: Soft | str | None, x, only=None) -> None:
        """Put the nodes of a soft body at x (n, 3) [m], or (k, n, 3) for the k simulations in `only`."""
        self._set(soft_of, body, only, Simulation.set_positions, (x, 2, "positions"))

    def set_velocities(self, body: Soft | str | None, v, only=None) -> None:
        """Give the nodes of a soft body velocities v (n, 3) [m/s], or (k, n, 3)."""
        self._set(soft_of, body, only, Simulation.set_velocities, (v, 2, "velocities"))

    def set_pose(self, body: Rigid | str | None, position, rotation=None, only=None) -> None:
        """Put a rigid body's shape at a position (3,) or (k, 3) [m], with a rotation (4,) or (k, 4) or those it has."""
        self._set(rigid_of, body, only, Simulation.set_pose, (position, 1, "position"), (rotation, 1, "rotation"))

    def set_twist(self, body: Rigid | str | None, velocity, angular_velocity=(0, 0, 0), only=None) -> None:
        """Give a rigid body a velocity (3,) or (k, 3) [m/s] and an angular velocity [rad/s]."""
        given = (velocity, 1, "velocity"), (angular_velocity, 1, "angular_velocity")
        self._set(rigid_of, body, only, Simulation.set_twist, *given)

    def _set(self, find: Callable, thing, only, setter: Callable, *values: tuple) -> None:
        """values: what is given, how many dimensions that of one simulation has, and its name."""
        numbers = self._numbers(only)
        each = [for_each(value, (None,) * size, len(numbers), name) for value, size, name in values]
        rows = iter(list(zip(*each)))
        self._of_each(numbers, find, thing, lambda sim, own: setter(sim, own, *next(rows)))

    def _numbers(self, only) -> list[int]:
        """The numbers of the simulations that are meant."""
        count = len(self._sims)
        if only is None:
            return list(range(count))
        try:
            given = np.atleast_1d(np.asarray(list(only) if isinstance(only, Mapping | Set) else only))
        except (ValueError, TypeError, OverflowError):  # rows of different lengths, and the like
            given = np.zeros((0, 0))
        if given.dtype == bool and given.shape == (count,):
            return [int(i) for i in np.flatnonzero(given)]
        whole = given.ndim == 1 and (np.issubdtype(given.dtype, np.integer) or not given.size)
        if not whole or np.any((given < 0) | (given >= count)) or len(np.unique(given)) < len(given):
            rule = f"different numbers of simulations from 0 to {count - 1}, or {count} times True or False"
            raise SceneError(f"only must be {rule}, got {shown(only)}")
        return [int(i) for i in given]


def for_each(value, one: tuple, count: int, name: str) -> list:
    """A value for each of `count` simulations: the same, or its rows. one: the shape of a single one, None for any."""
    if value is None or callable(value):
        return [value] * count
    if isinstance(value, list | tuple) and any(callable(own) for own in value):
        rows = list(value)
    else:
        try:
            array = np.asarray(value)
        except (ValueError, TypeError, OverflowError):
            raise SceneError(
                f"{name} must be an array, or have a row for each simulation, got {shown(value)}"
            ) from None
        if array.ndim == len(one):
            return [value] * count
        if array.ndim != len(one) + 1:
            raise SceneError(f"{name} must be of one simulation, or have a row for each, got shape {array.shape}")
        rows = list(array)
    if len(rows) != count:
        raise SceneError(f"{name} has {len(rows)} rows for {count} simulations")
    return rows


def _stacked(what: str, values: list) -> np.ndarray:
    arrays = [np.asarray(value) for value in values]
    for i, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise SceneError(
                f"{what} of simulation {i} have the shape {array.shape}, those of simulation 0 {arrays[0].shape}: they "
                f"do not fit in one array; read them one by one, as of many[{i}]"
            )
    return np.stack(arrays)


# ---- bodies and joints


def soft_of(sim: Simulation, body) -> Soft:
    return _one_of(sim.scene.soft_bodies, body, "soft body", Soft)


def rigid_of(sim: Simulation, body) -> Rigid:
    return _one_of(sim.scene.rigid_bodies, body, "rigid body", Rigid)


def joint_of(sim: Simulation, joint):
    return _one_of(sim.scene.joints, joint, "joint", object)


def _one_of(own: list, thing, kind: str, wanted: type):
    """The one of a scene's bodies or joints that a name, or a thing of that name, means."""
    if thing is None:
        if len(own) == 1:
            return own[0]
        if not own:
            raise SceneError(f"there is no {kind} in the scene")
        raise SceneError(f"there are {len(own)} of the kind {kind}; name one of: {listed(each.name for each in own)}")
    name = thing if isinstance(thing, str) else getattr(thing, "name", None)
    for each in own:
        if each is thing or each.name == name:
            return each
    if not isinstance(thing, str) and (name is None or not isinstance(thing, wanted)):
        raise SceneError(f"{shown(thing)} is no {kind}, nor the name of one")
    raise SceneError(f"no {kind} is named {name!r}; there are: {listed(each.name for each in own) or 'none'}")
