"""A shape drawn by 19,200 triangles falls as a volume of 3,190 tets: on the left its tets, on the right the drawing
that follows them."""

import sys
from pathlib import Path

import numpy as np

import pliant as pl


def creature(cells: int = 20) -> pl.meshes.TriMesh:
    """A body with six arms: a sphere whose radius grows around the axes, and waves."""
    sphere = pl.meshes.sphere(1.0, cells).surface()
    used, triangles = np.unique(sphere.triangles, return_inverse=True)
    direction = sphere.points[used]
    arms = np.exp(-6 * (1 - np.abs(direction).max(axis=1)) ** 0.8)
    waves = 0.03 * np.sin(9 * direction).prod(axis=1)
    return pl.meshes.TriMesh(direction * (0.14 + 0.24 * arms + waves)[:, None], triangles.reshape(-1, 3))


def main(folder: str = "out") -> float:
    """Force on the ground over the weight of the drawn volume, both bodies together."""
    drawing = creature()
    mesh = pl.meshes.tetrahedralize(drawing, size=0.06, grading=2, max_volume_error=0.04)
    scene = pl.Scene()
    ground = scene.add_rigid(pl.Plane(), static=True, friction=0.8)
    flesh = pl.Material.neohookean(young=8e4, poisson=0.4, density=1000, damping=0.02, mass_damping=3.0)
    place = {"rotation": (0.85, 0.4, 0.3, 0.1), "friction": 0.8}
    bodies = [
        scene.add_soft(mesh, flesh, position=(-0.42, 0, 0.5), **place),
        scene.add_soft(mesh, flesh, position=(0.42, 0, 0.5), drawing=drawing, **place),
    ]
    sim = scene.simulate(dt=1 / 60)
    sim.step(80)
    force = float(np.mean([sum(sim.contact_force(body, ground)[2] for body in bodies) for _ in sim.run(0.5)]))
    weight = 2 * 1000 * 9.81 * drawing.mass_properties()[0]
    sim.save(Path(folder) / "organic.png", color="none")
    print(f"{drawing} as {mesh}, dihedral angles from {mesh.quality().min_dihedral:.1f} degrees")
    print(f"force on the ground {force:.2f} N, weight of the drawn volume {weight:.2f} N")
    assert abs(force / weight - 1) < 0.04  # the volume of the mesh is allowed as much
    return force / weight


if __name__ == "__main__":
    main(*sys.argv[1:])
