"""Readers of rods: where their points are, how they are strained, and what they carry."""

from dataclasses import dataclass

import numpy as np

from pliant.elements.rods import BodyPlaces


@dataclass(frozen=True)
class RodState:
    """A rod with n points and m segments as it is now.

    points, velocities (n, 3) [m, m/s]; spins (n, 3) [rad/s]; frames (m, 3, 3): axes of the section's first and second
    direction and of the segment, in columns, world axes. stretch (m,): length over that at rest; shear (m, 2) [rad]
    along the first and second axis; curvature (m, 2) [1/m] about them and twist (m,) [rad/m], beyond those of the given
    shape. tension (m,) and shear_force (m, 2) [N]; moment (m, 2) about the first and second axis and torque (m,)
    [N m]: of the loads that the part before a segment's middle exerts on the part behind it, minus signs turned so that
    tension is positive where the rod is pulled.
    """

    points: np.ndarray
    velocities: np.ndarray
    spins: np.ndarray
    frames: np.ndarray
    stretch: np.ndarray
    shear: np.ndarray
    curvature: np.ndarray
    twist: np.ndarray
    tension: np.ndarray
    shear_force: np.ndarray
    moment: np.ndarray
    torque: np.ndarray


def rod_state(model, state, number: int) -> RodState:
    """That of a rod of a model, by its number."""
    own, table = model.rods.set, model.rods
    points, segments = table.points[number], table.segments[number]
    frames = own.strains_at(BodyPlaces.of(state))
    strains, loads = own.strains(frames)[segments], own.loads(frames)[segments]
    return RodState(
        state.body_position[points].copy(),
        state.body_velocity[points].copy(),
        state.body_angular_velocity[points].copy(),
        own.middles(frames)[segments],
        stretch=strains[:, 0],
        shear=strains[:, 1:3],
        curvature=strains[:, 3:5],
        twist=strains[:, 5],
        tension=loads[:, 2],
        shear_force=loads[:, :2],
        moment=loads[:, 3:5],
        torque=loads[:, 5],
    )
