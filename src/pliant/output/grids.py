"""The bodies of a simulation as grids for ParaView: tets of soft bodies, triangles of rigid ones; no planes."""

from dataclasses import dataclass

import numpy as np

from pliant.meshes.raw_mesh import cell_block
from pliant.output.fields import ElementFields, element_fields
from pliant.output.rod_fields import largest_on_surface
from pliant.output.scene_view import triangulation
from pliant.output.skins import Skin
from pliant.rotations import rotation_matrix

# VTK orders symmetric tensors XX YY ZZ XY YZ XZ; ours are xx, yy, zz, yz, xz, xy.
VTK_ORDER = [0, 1, 2, 5, 3, 4]
# Round shapes in files have so many sides.
SEGMENTS = 24


@dataclass(frozen=True)
class Grid:
    """One body: name, points (n, 3) [m], kind of its cells, cells, data at points and at cells."""

    name: str
    points: np.ndarray
    kind: str
    cells: np.ndarray
    point_data: dict[str, np.ndarray]
    cell_data: dict[str, np.ndarray]

    @property
    def blocks(self) -> list[tuple[str, np.ndarray]]:
        """The cells as the VTU writer takes them."""
        return [(self.kind, self.cells)]


def grids(sim) -> list[Grid]:
    """Every body but the planes, as it is now, and the drawings of soft bodies behind them.

    At points: displacement [m] since the scene's start, velocity [m/s]. At tets: strain and plastic_strain (tensor
    components in the element's rotated frame), stress [Pa] (world axes), von_mises [Pa]. At all cells: body number.
    """
    bodies = sim.scene.bodies
    soft = zip(sim.scene.soft_bodies, element_fields(sim) if sim.scene.soft_bodies else [])
    made = {body.name: _soft_grid(sim, body, fields, bodies.index(body)) for body, fields in soft}
    made |= {body.name: _rigid_grid(sim, body, bodies.index(body)) for body in sim.scene.rigid_bodies}
    made |= {rod.name: _rod_grid(sim, rod, bodies.index(rod)) for rod in sim.scene.rods}
    found = [made[body.name] for body in bodies if made[body.name] is not None]
    return found + [_drawn_grid(sim, body, bodies.index(body)) for body in sim.scene.soft_bodies if body.drawing]


def _soft_grid(sim, body, fields: ElementFields, number: int) -> Grid:
    x = sim.positions(body)
    kind, cells = cell_block(body.mesh)
    return Grid(
        body.name,
        x,
        kind,
        cells,
        {"displacement": x - body.nodes.positions, "velocity": np.array(sim.velocities(body))},
        {
            "body": np.full(len(cells), number, np.int32),
            "strain": _tensor(fields.strain, 0.5),
            "stress": _tensor(fields.stress),
            "plastic_strain": _tensor(fields.plastic_strain, 0.5),
            "von_mises": fields.von_mises,
        },
    )


def _drawn_grid(sim, body, number: int) -> Grid:
    """The drawing of a soft body."""
    skin = Skin(body)
    points = skin.at(sim.positions(body))
    data = {"displacement": points - skin.at(body.nodes.positions), "velocity": skin.at(sim.velocities(body))}
    triangles = skin.triangles
    return Grid(
        f"{body.name} drawing", points, "triangle", triangles, data, {"body": np.full(len(triangles), number, np.int32)}
    )


def _rigid_grid(sim, body, number: int) -> Grid | None:
    mesh = triangulation(body.shape, SEGMENTS)
    if mesh is None:
        return None
    position, rotation = sim.pose(body)
    points = mesh[0] @ rotation_matrix(rotation).T + position
    start = mesh[0] @ rotation_matrix(body.rotation).T + np.array(body.position)
    velocity, spin = sim.twist(body)
    centre = sim.state.body_position[sim.scene.rigid_bodies.index(body)]
    return Grid(
        body.name,
        points,
        "triangle",
        mesh[1],
        {"displacement": points - start, "velocity": velocity + np.cross(spin, points - centre)},
        {"body": np.full(len(mesh[1]), number, np.int32)},
    )


def _rod_grid(sim, rod, number: int) -> Grid:
    """Segments as lines; at these stretch, curvature (about both axes, and twist) [1/m], tension [N], moments and
    torque [N m], and the largest strain and von Mises stress [Pa] on their surface."""
    state = sim.rod(rod)
    start = rod.points @ rotation_matrix(rod.rotation).T + np.array(rod.position)
    return Grid(
        rod.name,
        state.points,
        "line",
        rod.edges,
        {"displacement": state.points - start, "velocity": state.velocities},
        {
            "body": np.full(len(rod.edges), number, np.int32),
            "stretch": state.stretch,
            "curvature": np.column_stack([state.curvature, state.twist]),
            "tension": state.tension,
            "moment": np.column_stack([state.moment, state.torque]),
            **largest_on_surface(rod, state),
            "radius": np.full(len(rod.edges), max(rod.section.extents)),
        },
    )


def _tensor(components: np.ndarray, shear: float = 1.0) -> np.ndarray:
    """Six components (m, 6) in VTK's order; `shear` turns doubled shear strains into tensor components."""
    scaled = components * np.array([1.0, 1.0, 1.0, shear, shear, shear])
    return scaled[:, VTK_ORDER]


def merged(parts: list[Grid]) -> tuple:
    """All grids as one: points, cell blocks, point and cell data (zero where a body has no such field)."""
    offsets = np.cumsum([0] + [len(part.points) for part in parts])
    blocks = [(part.kind, part.cells + offset) for part, offset in zip(parts, offsets)]
    points = np.concatenate([part.points for part in parts])
    point_data = _stacked([part.point_data for part in parts], [len(part.points) for part in parts])
    cell_data = _stacked([part.cell_data for part in parts], [len(part.cells) for part in parts])
    return points, blocks, point_data, cell_data


def _stacked(data: list[dict[str, np.ndarray]], counts: list[int]) -> dict[str, np.ndarray]:
    examples = {name: values for part in data for name, values in part.items()}
    stacked = {}
    for name, example in examples.items():
        pieces = [
            part.get(name, np.zeros((count, *example.shape[1:]), example.dtype)) for part, count in zip(data, counts)
        ]
        stacked[name] = np.concatenate(pieces)
    return stacked
