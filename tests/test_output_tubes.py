"""Rods in pictures: tubes of one width, also around corners, closed at their ends and where they have a seam."""

from types import SimpleNamespace

import numpy as np
import pytest

import pliant as pl
from pliant.output.rod_view import Tube

RADIUS = 0.01
RUBBER = pl.Material.linear(1e6, 0.3, 1000)


def tube_of(points, **options) -> tuple[Tube, np.ndarray]:
    """The tube of a rod at rest, and its rings (m, 2, sides, 3) [m]."""
    rod = pl.Scene(gravity=(0, 0, 0)).add_rod(np.array(points, float), RUBBER, collide=False, **options)
    tube = Tube(rod, 0)
    at_rest = SimpleNamespace(rod=lambda rod: SimpleNamespace(points=rod.points, frames=rod.frames))
    return tube, tube.points(at_rest).astype(float).reshape(len(rod.edges), 2, -1, 3)


def bent(turn: float, count: int = 4) -> np.ndarray:
    """Points of a zigzag that turns by so many degrees at each corner, with segments of 0.1 m."""
    angles = np.radians(turn) * (np.arange(count) % 2)
    steps = 0.1 * np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    return np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])


def sections(tube: Tube, ring: np.ndarray) -> np.ndarray:
    """Rings (m, 2, sides, 2) [m] as they are seen along their segments, in the axes of their frames."""
    ends = tube.rod.points[tube.rod.edges][:, :, None]
    return np.einsum("mepi,mik->mepk", ring - ends, tube.rod.frames[:, :, :2])


@pytest.mark.parametrize("turn", [20, 90, 120])
@pytest.mark.parametrize(
    "options",
    [
        {"radius": RADIUS},
        {"section": pl.Section.rectangle(0.005, 0.02)},
        {"section": pl.Section.rectangle(0.005, 0.02), "normal": (0, 1, 0)},
        {"section": pl.Section.rectangle(0.005, 0.02), "normal": (0.3, 1, 0.2)},
    ],
)
def test_legs_of_a_bend_keep_their_width_up_to_the_corner(turn, options):
    tube, rings = tube_of(bent(turn), **options)
    seen = sections(tube, rings)
    if "normal" not in options:  # the section itself, to float32 of points that are 0.4 m from the origin
        np.testing.assert_allclose(seen, np.broadcast_to(tube.outline, seen.shape), atol=2e-7)
    area = 0.5 * abs(_turning(seen)).sum(axis=-1)
    np.testing.assert_allclose(area, 0.5 * abs(_turning(tube.outline)).sum(), rtol=0.03)


def _turning(outline: np.ndarray) -> np.ndarray:
    """Cross products of neighbouring points of outlines (..., sides, 2)."""
    after = np.roll(outline, -1, axis=-2)
    return outline[..., 0] * after[..., 1] - outline[..., 1] * after[..., 0]


def test_a_right_angle_has_the_diameter_on_both_legs():
    tube, rings = tube_of(bent(90, 2), radius=RADIUS)
    width = np.ptp(sections(tube, rings), axis=2)
    np.testing.assert_allclose(width, 2 * RADIUS, rtol=0.01)


def test_twisted_rods_keep_their_section():
    """Half a turn about a straight axis in 12 segments: where two meet the section is that of the frame halfway."""
    turns = np.linspace(0, np.pi, 12)
    normals = np.stack([0 * turns, np.cos(turns), np.sin(turns)], axis=1)
    points = np.linspace(0, 1, 13)[:, None] * [1.0, 0, 0]
    tube, rings = tube_of(points, section=pl.Section.rectangle(0.005, 0.02), normal=normals)
    half = np.linalg.norm(tube.outline, axis=1)
    np.testing.assert_allclose(
        np.linalg.norm(sections(tube, rings), axis=3), np.broadcast_to(half, rings.shape[:3]), atol=1e-7
    )


def test_hairpins_are_no_longer_than_the_mitre_allows():
    """A turn of 180 degrees has no plane that halves it; points stay within two radii of the rod's."""
    for turn in (150, 179, 180):
        points = np.array(
            [[0, 0, 0], [0.1, 0, 0], 0.1 * np.array([1 + np.cos(np.radians(turn)), 0, np.sin(np.radians(turn))])]
        )
        tube, rings = tube_of(points, radius=RADIUS)
        reach = np.linalg.norm(rings - tube.rod.points[tube.rod.edges][:, :, None], axis=3)
        assert np.isfinite(rings).all() and reach.max() < 2.001 * RADIUS, turn


@pytest.mark.parametrize("turn", [0, 30, 90])
def test_tubes_are_closed(turn):
    """By the divergence theorem a closed surface of mitred prisms has the volume of length times area."""
    tube, rings = tube_of(bent(turn), radius=RADIUS)
    corners = rings.reshape(-1, 3)[tube.triangles]
    normals = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    np.testing.assert_allclose(normals.sum(axis=0), 0, atol=1e-8)
    volume = np.sum(corners.mean(axis=1) * normals) / 3
    area = 0.5 * abs(_turning(tube.outline)).sum()
    assert volume == pytest.approx(area * tube.rod.lengths.sum(), rel=1e-3)
