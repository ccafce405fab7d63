"""MuJoCo: rigid spheres and boxes in a bin, with its default solver (Newton) and soft contacts."""

import mujoco

from pliant.benchmarks.peers._timing import pile_case, timed_pile


def measure(bodies: list, walls: list, friction: float, density: float, steps: int, step: float) -> dict:
    """Steps from rest; bodies: shape, size [m], position [m] of each; walls: sizes and positions."""
    model = mujoco.MjModel.from_xml_string(_description(bodies, walls, friction, density, step))
    data = mujoco.MjData(model)
    times, deepest = timed_pile(
        lambda: mujoco.mj_step(model, data), lambda: float(data.contact.dist.min(initial=0.0)), steps
    )
    return pile_case(times, deepest, len(data.contact), version=mujoco.__version__)


def _description(bodies: list, walls: list, friction: float, density: float, step: float) -> str:
    """The scene in MuJoCo's own format; its boxes have half sizes."""
    lines = [f'<geom type="plane" size="0 0 1" friction="{friction} 0 0"/>']
    for size, place in walls:
        lines.append(f'<geom type="box" size="{_half(size)}" pos="{_text(place)}" friction="{friction} 0 0"/>')
    for shape, size, place in bodies:
        extent = f"{size[0]}" if shape == "sphere" else _half(size)
        geometry = f'<geom type="{shape}" size="{extent}" density="{density}" friction="{friction} 0 0"/>'
        lines.append(f'<body pos="{_text(place)}"><freejoint/>{geometry}</body>')
    world = "".join(lines)
    return f'<mujoco><option timestep="{step:.17g}" cone="elliptic"/><worldbody>{world}</worldbody></mujoco>'


def _text(values) -> str:
    return " ".join(f"{value:.17g}" for value in values)


def _half(size) -> str:
    return _text([0.5 * value for value in size])
