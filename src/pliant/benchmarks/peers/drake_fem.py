"""Drake: a deformable body of tets.

It integrates positions by the mean of old and new velocity and takes forces at the end of the step (Newmark with gamma
1, beta 1/2), has a consistent mass matrix, and factorises. Its linear corotated law keeps the rotations of the step
before, so one linear solve is all; the others run Newton's method. There is no setting for its tolerance.
"""

import tempfile
from importlib.metadata import version
from pathlib import Path

from pydrake.geometry import GeometryInstance, Mesh, ProximityProperties
from pydrake.math import RigidTransform
from pydrake.multibody.fem import DeformableBodyConfig, MaterialModel
from pydrake.multibody.plant import AddMultibodyPlant, MultibodyPlantConfig
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

from pliant.benchmarks._beam import DENSITY, GRAVITY, POISSON, YOUNG, beam_mesh, lame, tip, write_vtk
from pliant.benchmarks.peers._timing import case, timed

# Drake's law, and ours that is nearest; the neo-Hookean one lacks the logarithm of ours.
LAWS = {
    "linear corotated": (MaterialModel.kLinearCorotated, "corotated"),
    "corotated": (MaterialModel.kCorotated, "fixed_corotated"),
    "neo-Hookean": (MaterialModel.kNeoHookean, "stable_neohookean"),
}


def measure(variant: str, cells: list, steps: int, step: float) -> dict:
    """Steps from rest."""
    mesh = beam_mesh(cells)
    plant, simulator, body = _simulator(mesh, LAWS[variant][0], step)
    done = iter(range(1, steps + 1))
    times = timed(lambda: simulator.AdvanceTo(next(done) * step), steps)
    context = plant.GetMyContextFromRoot(simulator.get_context())
    return case(
        mesh,
        times,
        tip(mesh.points, plant.deformable_model().GetPositions(context, body).T),
        version=version("drake"),
        law=LAWS[variant][1],
        integrator="implicit, mean velocity",
        masses="consistent",
    )


def _simulator(mesh, law, step: float):
    """The plant, the simulator at time zero, and the body's id."""
    builder = DiagramBuilder()
    # of the contact models those that take deformable bodies
    config = MultibodyPlantConfig(time_step=step, discrete_contact_approximation="sap")
    plant, _ = AddMultibodyPlant(config, builder)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -GRAVITY])
    deformable = plant.mutable_deformable_model()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "beam.vtk"
        write_vtk(path, mesh)
        geometry = GeometryInstance(RigidTransform(), Mesh(str(path), 1.0), "beam")
        geometry.set_proximity_properties(ProximityProperties())
        body = deformable.RegisterDeformableBody(geometry, _material(law), 1.0)
    deformable.SetWallBoundaryCondition(body, [1e-6, 0, 0], [1, 0, 0])
    plant.Finalize()
    simulator = Simulator(builder.Build())
    simulator.Initialize()
    return plant, simulator, body


def _material(law) -> DeformableBodyConfig:
    """The material, undamped, with our moduli at small strain."""
    young, poisson = YOUNG, POISSON
    if law == MaterialModel.kNeoHookean:
        # mu/2 (I1 - 3) + lam/2 (J - 1 - mu/lam)^2 behaves at small strain as if its lam were smaller by mu
        lam, mu = lame()
        lam += mu
        young, poisson = mu * (3 * lam + 2 * mu) / (lam + mu), lam / (2 * (lam + mu))
    config = DeformableBodyConfig()
    config.set_youngs_modulus(young)
    config.set_poissons_ratio(poisson)
    config.set_mass_density(DENSITY)
    config.set_mass_damping_coefficient(0.0)
    config.set_stiffness_damping_coefficient(0.0)
    config.set_material_model(law)
    return config
