"""What the studio asks of a scene beside running it: quality of meshes, selections, how a material answers a pull."""

from contextlib import suppress
from typing import Any

import numpy as np

from pliant.errors import PliantError, SceneError
from pliant.scene.bodies import Soft
from pliant.scene.rods import Rod
from pliant.solve.options import Mixed, Newton

STATIC_SOLVERS = (Newton, Mixed)
"""Solvers that find an equilibrium."""

WORST = 12
"""How many of the worst tets are marked."""

STRETCHES = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0)
"""At which a material is pulled; beyond this much of its length a curve says little."""


def quality(body: Soft) -> dict[str, Any]:
    """How good a mesh of tets is: counts of angles between faces in steps of 10 degrees, and the worst tets with the
    places of their corners at the start [m]."""
    if not hasattr(getattr(body, "mesh", None), "tets"):
        raise SceneError(f"{body.name!r} has no tets")
    quality = body.mesh.quality()
    counts, _ = quality.angle_counts()
    least = quality.dihedral.reshape(len(quality.volumes), -1).min(axis=1)
    worst = np.argsort(least, kind="stable")[:WORST]
    return {
        "tets": len(quality.volumes),
        "counts": [int(count) for count in counts],
        "angles": [quality.min_dihedral, quality.max_dihedral],
        "radius_edge": quality.max_radius_edge,
        "volume": quality.total_volume,
        "worst": [round(float(angle), 2) for angle in least[worst]],
        "corners": body.nodes.positions[body.mesh.tets[worst, :4]].tolist(),
    }


def nodes_of(body: Soft) -> np.ndarray:
    """Places (n, 3) [m] of the nodes of a soft body or sheet at the start."""
    if not isinstance(body, Soft):
        raise SceneError(f"{body.name!r} is no soft body: it has no nodes")
    return body.nodes.positions


def select(body: Soft, what: str, selection: Any) -> list[int]:
    """The numbers of the nodes or faces that a selection picks, said as in a scene file."""
    from pliant.scene_file.build_joints import make_selection
    from pliant.scene_file.loads import FaceSelectionTable, NodeSelectionTable
    from pliant.scene_file.problems import Problems

    if what not in ("nodes", "faces"):
        raise SceneError("what is selected must be nodes or faces")
    if not isinstance(body, Soft):
        raise SceneError(f"{body.name!r} is no soft body: nothing of it can be selected")
    problems = Problems("scene")
    kind = NodeSelectionTable if what == "nodes" else FaceSelectionTable
    table = problems.validate(kind, {what: selection}, ())
    problems.finish()
    picks = make_selection(getattr(table, what))
    chosen = body.select(picks, "selection") if what == "nodes" else body.select_faces(picks, "selection")
    return chosen.tolist()


def rod_point(rod: Rod, point: list[float]) -> dict[str, Any]:
    """Of the point of a rod that is nearest to a place at the start: its number, and where it is [m]."""
    if not isinstance(rod, Rod):
        raise SceneError(f"{rod.name!r} is no rod")
    points = rod.places
    number = int(np.argmin(((points - point) ** 2).sum(axis=1)))
    return {"number": number, "at": points[number].tolist()}


def curve(material: dict[str, Any]) -> dict[str, Any]:
    """Nominal stress [Pa] of a bar of a material that is pulled, and how much it thins, from the equilibrium of a cube
    held at two ends: {"stretch": [...], "stress": [...], "across": [...]}; stretches without an equilibrium are left
    out. Plasticity and damping do not show in it."""
    from pliant.scene_file.build import make_material
    from pliant.scene_file.materials import material_kind
    from pliant.scene_file.problems import Problems

    problems = Problems("scene")
    elastic = {key: value for key, value in material.items() if key != "plasticity"}
    table = problems.validate(material_kind(elastic), elastic, ())
    problems.finish()
    made, found = make_material(table), {"stretch": [], "stress": [], "across": []}
    for stretch in STRETCHES:
        with suppress(PliantError):
            stress, across = _pulled(made, stretch)
            found["stretch"].append(stretch)
            found["stress"].append(stress)
            found["across"].append(across)
    return found


def _pulled(material, stretch: float) -> tuple[float, float]:
    """Stress [Pa] and stretch across of a unit cube pulled to a stretch; its sides slide and are free."""
    import pliant

    scene = pliant.Scene(gravity=(0, 0, 0))
    cube = scene.add_soft(pliant.meshes.box((1, 1, 1), cells=1), material, collide=False)
    for axis in "xyz":
        cube.pin(f"{axis} < 0.5", axes=axis)
    pulled = cube.pin("x > 0.5", axes="x", displacement=(stretch - 1, 0, 0))
    sim = scene.equilibrium(load_steps=max(1, round(abs(stretch - 1) / 0.25)), threads=1)
    across = float(sim.positions(cube)[:, 1].max())
    return float(sim.reaction(pulled)[0]), across
