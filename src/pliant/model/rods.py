"""The rods of a scene as one set of elements between their points, and where each rod lies in it."""

from dataclasses import dataclass

import numpy as np

from pliant.elements.rods import BodyPlaces, RodSet
from pliant.elements.sets import Part
from pliant.kernels.device import Device
from pliant.kernels.lanes import to_lanes
from pliant.rotations import matrix_quaternion, rotation_matrix
from pliant.scene.scene import Scene


@dataclass(frozen=True)
class RodTable:
    """Rods of a model: names, points (first, last) of each among the rigid bodies, segments among those of the set."""

    names: list[str]
    points: list[slice]
    segments: list[slice]
    set: RodSet | None

    def largest_load(self, state) -> float:
        """The largest force [N] or moment [N m] that a segment carries at a state."""
        if self.set is None:
            return 0.0
        return float(np.abs(self.set.loads(self.set.strains_at(BodyPlaces.of(state)))).max())


def build_rods(device: Device, scene: Scene, node_count: int, rotation: np.ndarray) -> RodTable:
    """All rods; rotation (b, 4): principal frames of all rigid bodies at the start."""
    rods, first, before = scene.rods, len(scene.rigid_bodies), 0
    points, segments, columns = [], [], []
    for rod in rods:
        points.append(slice(first, first + len(rod)))
        segments.append(slice(before, before + len(rod.edges)))
        columns.append(_columns(rod, first, rotation))
        first, before = first + len(rod), before + len(rod.edges)
    names = [rod.name for rod in rods]
    if not rods:
        return RodTable(names, points, segments, None)
    joined = {name: np.concatenate([one[name] for one in columns]) for name in columns[0]}
    bodies = joined["bodies"]
    triples = node_count + 2 * bodies[:, [0, 0, 1, 1]] + [0, 1, 0, 1]
    lanes = {name: to_lanes(values) for name, values in joined.items()}
    flat = {name: lanes[name][:, 0] for name in ("stretch", "damping")}
    part = Part(-1, 0, len(lanes["bodies"]), before)
    fill = to_lanes(joined["rest"], 1.0)[:, 0]
    lanes |= flat | {"rest": fill, "offsets": _filled(joined["offsets"])}
    lanes |= {name: _filled(values).astype(np.int32) for name, values in (("nodes", triples), ("bodies", bodies))}
    made = RodSet(device=device, law="rod", energy=None, parts=[part], **lanes)
    return RodTable(names, points, segments, made)


def _filled(values: np.ndarray) -> np.ndarray:
    """Values (m, c) in lanes; empty ones repeat the first, so that their strains are finite."""
    lanes = to_lanes(values)
    empty = to_lanes(np.ones((len(values), 1), int)) == 0
    return np.where(empty, values[0][None, :, None], lanes)


def _columns(rod, first: int, rotation: np.ndarray) -> dict[str, np.ndarray]:
    """Numbers of the segments of a rod whose points are the bodies from `first` on."""
    stiffness, turn = rod.stiffness, rotation_matrix(rod.rotation)
    bodies = rod.edges + first
    offsets = np.empty((len(bodies), 8))
    for k, ends in enumerate(rod.ends):
        for side, frame in enumerate(ends):
            own = rotation_matrix(rotation[bodies[k, side]])
            offsets[k, 4 * side : 4 * side + 4] = matrix_quaternion(own.T @ turn @ frame)
    shear = stiffness["shear"]
    return {
        "bodies": bodies,
        "offsets": offsets,
        "rest": rod.lengths[:, None],
        "natural": rod.curvature * rod.lengths[:, None],
        "bending": np.concatenate([stiffness["bending"], stiffness["twist"][:, None]], axis=1),
        "stretch": stiffness["stretch"][:, None],
        "shear": np.concatenate([shear, shear.max(axis=1, keepdims=True)], axis=1),
        "damping": np.full((len(bodies), 1), rod.material.damping),
    }


def stiffness_of_bodies(table: RodTable, node_count: int, body_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean diagonal entries (2 b,) of the stiffness at rest that rods give the triples of rigid bodies [N/m, N m], and
    of its damping."""
    stiffness, damping = np.zeros((2, 2 * body_count))
    if table.set is not None:
        own, place = table.set.triple_stiffness(), table.set.connectivity - node_count
        beta = table.set.of_segments(table.set.damping[:, None])
        stiffness = np.bincount(place.ravel(), weights=own.ravel(), minlength=2 * body_count)
        damping = np.bincount(place.ravel(), weights=(beta * own).ravel(), minlength=2 * body_count)
    return stiffness, damping
