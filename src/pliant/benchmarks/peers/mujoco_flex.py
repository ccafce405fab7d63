"""MuJoCo: a flex of tets with its own elasticity (St. Venant-Kirchhoff), node masses set to ours.

Its "discrete" integrator solves one linear system M + h^2 K a step by conjugate gradients (linearly implicit); the
implicit ones take no flex elasticity, and explicit Euler needs substeps. flexcomp spreads mass evenly over the nodes.
"""

import mujoco
import numpy as np

from pliant.benchmarks._beam import DENSITY, GRAVITY, POISSON, SIZE, YOUNG, beam_mesh, clamped, node_masses, tip
from pliant.benchmarks.peers._timing import case, timed

SUBSTEPS = 100
OPTIONS = {
    "discrete": 'integrator="discrete"',
    "discrete, converged": 'integrator="discrete" iterations="10000" tolerance="1e-10"',
    "explicit, 100 substeps": 'integrator="Euler"',
}


def measure(variant: str, cells: list, steps: int, step: float) -> dict:
    """Steps from rest; for the explicit variant a step is so many substeps."""
    mesh = beam_mesh(cells)
    substeps = SUBSTEPS if "substeps" in variant else 1
    model = mujoco.MjModel.from_xml_string(_description(mesh, OPTIONS[variant], step / substeps))
    data = _with_masses(model, mesh)
    times = timed(lambda: mujoco.mj_step(model, data, substeps), steps)
    return case(
        mesh,
        times,
        tip(mesh.points, data.flexvert_xpos),
        version=mujoco.__version__,
        law="stvk",
        integrator="explicit (symplectic) Euler" if substeps > 1 else "implicit Euler, one linear solve",
        masses="lumped",
        warnings=sum(int(warning.number) for warning in data.warning),
    )


def _description(mesh, options: str, step: float) -> str:
    """The scene in MuJoCo's own format."""
    points = " ".join(f"{value:.17g}" for value in mesh.points.ravel())
    tets = " ".join(str(value) for value in mesh.tets.ravel())
    pinned = " ".join(str(node) for node in np.flatnonzero(clamped(mesh.points)))
    mass = DENSITY * float(np.prod(SIZE))
    return f"""<mujoco>
  <option timestep="{step:.17g}" gravity="0 0 {-GRAVITY}" {options}/>
  <worldbody>
    <flexcomp name="beam" type="direct" dim="3" mass="{mass}" radius="0.001" point="{points}" element="{tets}">
      <elasticity young="{YOUNG}" poisson="{POISSON}" damping="0"/>
      <contact selfcollide="none" contype="0" conaffinity="0"/>
      <pin id="{pinned}"/>
    </flexcomp>
  </worldbody>
</mujoco>"""


def _with_masses(model, mesh):
    """The state at rest of a model whose free nodes weigh what ours do."""
    body = np.asarray(model.flex_vertbodyid)
    free = body > 0
    ratio = node_masses(mesh)[free] / model.body_mass[body[free]]
    model.body_mass[body[free]] *= ratio
    model.body_inertia[body[free]] *= ratio[:, None]
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)
    mujoco.mj_resetData(model, data)
    mujoco.mj_forward(model, data)
    return data
