"""Other engines on the cantilever, each in its own file and process: `measure(variant, cells, steps, step)`.

A module is imported only in that process, so none of these engines is needed to run the rest.
"""

from dataclasses import dataclass
from importlib.util import find_spec

from pliant.benchmarks import _isolated
from pliant.benchmarks._beam import STEP


@dataclass(frozen=True)
class Peer:
    """An engine: the package to install, its module to import, our file, its variants.

    variants: name to (also on fine meshes, also with smaller steps).
    """

    package: str
    imported: str
    file: str
    variants: dict[str, tuple[bool, bool]]


PEERS = (
    Peer(
        "mujoco",
        "mujoco",
        "mujoco_flex",
        {"discrete": (True, True), "discrete, converged": (True, True), "explicit, 100 substeps": (False, False)},
    ),
    Peer(
        "drake",
        "pydrake",
        "drake_fem",
        {"linear corotated": (True, True), "corotated": (False, True), "neo-Hookean": (False, True)},
    ),
    Peer("pybullet", "pybullet", "bullet_soft", {"one step": (False, False), "100 substeps": (False, False)}),
)


def measure_peers(cells: tuple, steps: int, refinement: int | None) -> list[dict]:
    """Every engine on a mesh; refinement: also with so many parts of a step, for their error in time, on the coarse
    mesh (None: this is the fine mesh)."""
    cases = []
    for peer in PEERS:
        if find_spec(peer.imported) is None:
            cases.append({"label": _label(peer.package, cells), "unavailable": "not installed"})
            continue
        for variant, (fine, refined) in peer.variants.items():
            if refinement or fine:
                cases.append(_case(peer, variant, cells, steps, refinement if refined else None))
    return cases


def measure_piles(**pile) -> list[dict]:
    """Engines of rigid bodies on a pile; arguments as of `mujoco_pile.measure`."""
    cases = []
    for package, file in (("mujoco", "mujoco_pile"), ("pybullet", "bullet_pile")):
        label = {"label": f"{package}, {len(pile['bodies'])} rigid spheres and boxes"}
        if find_spec(package) is None:
            cases.append(label | {"unavailable": "not installed"})
            continue
        try:
            cases.append(label | _isolated.call(f"{__name__}.{file}", "measure", **pile))
        except _isolated.Failed as failure:
            cases.append(label | {"unavailable": str(failure)})
    return cases


def measure_trees(name: str, **tree) -> list[dict]:
    """Engines of joints on a tree of hinges; arguments as of `mujoco_tree.measure`."""
    label = {"label": f"{name}, mujoco"}
    if find_spec("mujoco") is None:
        return [label | {"unavailable": "not installed"}]
    try:
        return [label | _isolated.call(f"{__name__}.mujoco_tree", "measure", **tree)]
    except _isolated.Failed as failure:
        return [label | {"unavailable": str(failure)}]


def _label(name: str, cells: tuple) -> str:
    return f"{name}, {6 * cells[0] * cells[1] * cells[2]:,} tets"


def _case(peer: Peer, variant: str, cells: tuple, steps: int, refinement: int | None) -> dict:
    """One engine, one variant, one mesh; what went wrong if something did."""
    label = {"label": _label(f"{peer.package}, {variant}", cells)}
    try:
        case = _measure(peer, variant, cells, steps, STEP) | {"cells": cells}
        if refinement and case["tip_m"] is not None:
            small = _measure(peer, variant, cells, steps * refinement, STEP / refinement)["tip_m"]
            case["time_error"] = None if small is None else abs(case["tip_m"] - small) / abs(small)
    except _isolated.Failed as failure:
        return label | {"unavailable": str(failure)}
    return label | case


def _measure(peer: Peer, variant: str, cells: tuple, steps: int, step: float) -> dict:
    module = f"{__name__}.{peer.file}"
    return _isolated.call(module, "measure", variant=variant, cells=cells, steps=steps, step=step)
