"""Natural frequencies and modes of a scene about its initial state."""

from dataclasses import dataclass, field, replace
from numbers import Integral

import numpy as np

from pliant.checks import choice, number, refusal, shown, whole
from pliant.errors import SceneError
from pliant.kernels.device import refuse_residents
from pliant.linalg.vibration import DENSE, Pencil, lowest_modes
from pliant.model.build import build
from pliant.rotations import multiply_quaternions, rotation_matrix
from pliant.scene.bodies import Rigid, Soft
from pliant.scene.cloth import Cloth
from pliant.scene.rods import Rod
from pliant.scene.scene import Scene
from pliant.solve.matrices import joint_matrix, mass_matrix, stiffness_matrix

MASSES = ("lumped", "consistent")
# Compliance of rigid joints relative to that of what they hold, so that redundant ones have an answer.
RIGID_COMPLIANCE = 1e-12
# The shift of the inverse relative to the lowest frequencies squared that are expected, and to the highest.
SHIFT, SMALLEST_SHIFT = 1e-2, 1e-12
# Squares of frequencies up to this part of the highest are rounding, and up to this part of the shift.
NO_STRAIN, NO_STRAIN_BY_SHIFT = 1e-14, 1e-9
# The largest displacement in a picture of a mode, relative to the size of the scene.
PICTURE_SHARE = 0.1


@dataclass(frozen=True)
class Modes:
    """Natural modes of a scene: frequencies (n,) [Hz] in ascending order, and shapes by the name of the body.

    Shapes are (n, nodes, 3) for a soft body, (n, 2, 3) for a rigid one: displacement of its centre of mass and rotation
    vector. All bodies together are normalised to a modal mass of one, phi^T M phi = 1 (shapes in 1/sqrt(kg), rotations
    in 1/(m sqrt(kg))), and the largest component is positive.

    rigid: how many of them, the first, have the frequency 0 but for rounding: motions as a whole of what nothing holds,
    or as joints let it move. Contacts hold nothing here.
    """

    frequencies: np.ndarray
    shapes: dict[str, np.ndarray]
    scene: Scene = field(repr=False)
    rigid: int = 0

    def __post_init__(self):
        known = isinstance(self.scene, Scene) and isinstance(self.shapes, dict)
        if not known or not isinstance(self.frequencies, np.ndarray):
            raise SceneError("modes are made by scene.modes(n)")

    def __len__(self) -> int:
        return len(self.frequencies)

    def shape(self, body: Soft | Rigid, k: int) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Shape of mode k, from 0: (nodes, 3) of a soft body, or displacement (3,) and rotation (3,) of a rigid one."""
        if not any(body is candidate for candidate in self.scene.bodies):
            raise SceneError(f"{shown(body)} is not a body of the scene that these modes are of")
        shape = self.shapes[body.name][self._index(k)]
        return shape if isinstance(body, Soft | Rod) else (shape[0], shape[1])

    def displace(self, sim, k: int, scale: float | None = None) -> None:
        """Put the bodies of a simulation of this scene where mode k takes them from the initial state: scale times the
        shape, scale [sqrt(kg)] None: so that the largest displacement is a tenth of the scene's size."""
        k = self._index(k)
        if not hasattr(sim, "set_positions"):
            raise refusal("sim", "a simulation of the scene that these modes are of", sim)
        every = (*self.scene.soft_bodies, *self.scene.every_rigid)
        if new := [body.name for body in every if body.name not in self.shapes]:
            raise SceneError(f"the scene has changed since its modes were computed: {new[0]!r} is new")
        scale = self._picture_scale(k) if scale is None else number(scale, "scale")
        for body in self.scene.soft_bodies:
            sim.set_positions(body, body.nodes.positions + scale * self.shapes[body.name][k])
        for body in self.scene.every_rigid:
            if not body.static:
                _place_rigid(sim, body, *(scale * self.shapes[body.name][k]))

    def save(self, path, k: int, scale: float | None = None, **options) -> None:
        """Write mode k as a picture (.png, with the options of `Simulation.save`) or for ParaView (.vtu, .pvd); scale
        as in `displace`."""
        sim = self.scene.simulate(dt=1.0)
        self.displace(sim, k, scale)
        if str(path).lower().endswith(".png"):
            options = {"caption": f"mode {k + 1}: {self.frequencies[k]:.4g} Hz"} | options
        sim.save(path, **options)

    def _index(self, k: int) -> int:
        return whole(k, "the number of a mode", 0, len(self) - 1)

    def _picture_scale(self, k: int) -> float:
        points = [body.nodes.positions for body in self.scene.soft_bodies]
        points += [np.array([body.position]) for body in self.scene.every_rigid if not body.static]
        moves = [self.shapes[body.name][k] for body in self.scene.soft_bodies]
        moves += [self.shapes[body.name][k, :1] for body in self.scene.every_rigid]
        size = np.ptp(np.concatenate(points), axis=0).max(initial=0.0) or 1.0
        largest = np.linalg.norm(np.concatenate(moves), axis=1).max(initial=0.0)
        return PICTURE_SHARE * size / largest if largest > 0 else PICTURE_SHARE


def natural_modes(scene: Scene, n: int, *, mass: str = "lumped", device: str = "cpu") -> Modes:
    """The n lowest modes of a scene about its initial state; see Scene.modes."""
    choice(mass, "mass", MASSES)
    refuse_residents(device, "natural modes")
    model, state = build(scene, device=device)
    if not model.elements.sets and not np.any(model.joints.compliance > 0):
        raise SceneError("modes need something elastic: a soft body, or a joint with a compliance above 0")
    free = np.flatnonzero(np.concatenate([model.free.ravel() > 0, np.repeat(~model.static, 6)]))
    _check_count(n, len(free))
    pencil = _pencil(model, state, free, mass == "consistent")
    shift = _shift(scene, model, pencil, free)
    values, vectors = lowest_modes(_stiffened(pencil, shift), int(n), shift)
    if len(values) < n:
        raise SceneError(f"modes: n = {n}, but the joints leave only {len(values)} modes")
    shapes = np.zeros((len(values), 3 * model.triple_count))
    shapes[:, free] = vectors.T
    frequencies = np.sqrt(np.maximum(values, 0.0)) / (2 * np.pi)
    rigid = int(np.sum(values <= max(NO_STRAIN * _highest(pencil), NO_STRAIN_BY_SHIFT * -shift)))
    return Modes(frequencies, _by_body(scene, model, shapes.reshape(len(values), -1, 3)), scene, rigid)


def _highest(pencil: Pencil) -> float:
    """About the highest frequency squared [1/s2] of the elements and of joints with a compliance."""
    masses, soft = pencil.mass.diagonal(), np.flatnonzero(pencil.compliance > 0)
    rows = pencil.jacobian.tocsr()[soft]
    joints = (rows.multiply(rows) @ (1 / masses)) / pencil.compliance[soft]
    return float(max(np.max(pencil.stiffness.diagonal() / masses, initial=0.0), joints.max(initial=0.0)))


def _check_count(n, unknowns: int) -> None:
    """n must be a number of modes that can be computed: all for small systems, all but one for larger ones."""
    if not unknowns:
        raise SceneError("modes: everything in the scene is held, nothing can move")
    most = unknowns if unknowns <= DENSE else unknowns - 1
    if isinstance(n, bool) or not isinstance(n, Integral) or not 1 <= n <= most:
        raise SceneError(f"modes: n must be an integer from 1 to {most} (unknowns of the scene), got {n!r}")


def _pencil(model, state, free: np.ndarray, consistent: bool) -> Pencil:
    """Matrices over the free components, and the joints that touch these; rigid ones have a compliance of zero."""
    stiffness, mass = stiffness_matrix(model, state), mass_matrix(model, state, consistent)
    jacobian, compliance = joint_matrix(model, state)
    jacobian = jacobian[:, free].tocsr()
    jacobian.eliminate_zeros()
    touching = np.flatnonzero(np.diff(jacobian.indptr) > 0)
    square = (matrix[free][:, free].tocsc() for matrix in (stiffness, mass))
    return Pencil(*square, jacobian[touching].tocsc(), compliance[touching])


def _stiffened(pencil: Pencil, shift: float) -> Pencil:
    """Rigid joints with a compliance far below that of what they hold."""
    softness = 1 / (pencil.stiffness.diagonal() - shift * pencil.mass.diagonal())
    held = pencil.jacobian.multiply(pencil.jacobian) @ softness
    rigid = pencil.compliance == 0
    return replace(pencil, compliance=np.where(rigid, RIGID_COMPLIANCE * held, pencil.compliance))


def _shift(scene: Scene, model, pencil: Pencil, free: np.ndarray) -> float:
    """A shift [1/s2] a little below zero on the scale of the lowest modes: G / (rho L^2) of soft bodies of size L, and
    stiffness over mass of compliant joints; but not so small that it would vanish in rounding."""
    masses, scales = np.ones((model.triple_count, 3)), []
    for i, body in enumerate(scene.soft_bodies):
        length = np.linalg.norm(np.ptp(body.mesh.points, axis=0))
        slender = (body.thickness / length) ** 2 if isinstance(body, Cloth) else 1.0  # a sheet bends first
        scales.append(slender * model.elements.shear_speed[i] ** 2 / length**2)
        nodes = slice(model.node_start[i], model.node_start[i + 1])
        masses[nodes] = model.node_mass[nodes].sum()
    for rod in scene.rods:  # the lowest bending frequency squared, about (EI / rho A) (pi / L)^4
        length, stiff = rod.lengths.sum(), min(rod.section.moments) * rod.material.young
        scales.append(stiff / rod.linear_density * (np.pi / length) ** 4)
    masses[model.node_count :: 2] = model.body_mass[:, None]
    masses[model.node_count + 1 :: 2] = model.body_inertia
    soft = np.flatnonzero(pencil.compliance > 0)
    rows = pencil.jacobian.tocsr()[soft]
    scales += ((rows.multiply(rows) @ (1 / masses.ravel()[free])) / pencil.compliance[soft]).tolist()
    highest = np.max(pencil.stiffness.diagonal() / pencil.mass.diagonal(), initial=0.0)
    return -max(SHIFT * min(scales), SMALLEST_SHIFT * highest)


def _by_body(scene: Scene, model, shapes: np.ndarray) -> dict[str, np.ndarray]:
    """Shapes (k, triples, 3) by the name of the body."""
    found, n = {}, model.node_count
    for i, body in enumerate(scene.soft_bodies):
        found[body.name] = shapes[:, model.node_start[i] : model.node_start[i + 1]]
    for i, body in enumerate(scene.every_rigid):
        found[body.name] = shapes[:, n + 2 * i : n + 2 * i + 2]
    for rod, points in zip(scene.rods, model.rods.points):
        found[rod.name] = shapes[:, n + 2 * points.start : n + 2 * points.stop : 2]
    return found


def _place_rigid(sim, body: Rigid, displacement: np.ndarray, turn: np.ndarray) -> None:
    """Put a rigid body where its centre of mass is displaced [m] and it is turned by a rotation vector [rad]."""
    arm = rotation_matrix(body.rotation) @ body.mass_properties()[1]
    angle = np.linalg.norm(turn)
    axis = turn / angle if angle > 0 else turn
    spin = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
    position = np.array(body.position) + arm + displacement - rotation_matrix(spin) @ arm
    sim.set_pose(body, position, multiply_quaternions(spin, body.rotation))
