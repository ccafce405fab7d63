"""MuJoCo: trees of hinges, with the implicit integrator that it advises for motors with damping."""

import mujoco
import numpy as np

from pliant.benchmarks.peers._timing import timed


def measure(links: list, motors: dict | None, length: float, radius: float, mass: float, steps: int, step: float):
    """Steps from rest; links: parent, start [m], direction and axis of each; motors: limits, gains and swing, or
    None."""
    sizes = (length, radius, mass)
    model = mujoco.MjModel.from_xml_string(_description(links, motors, *sizes, step))
    data = mujoco.MjData(model)
    first = 0 if motors is None else 1
    numbers = np.arange(first, len(links))

    def advance() -> None:
        if motors:
            at = motors["pace"] * (data.time + step) + motors["after"] * numbers
            data.ctrl[:] = motors["swing"] * (np.sin(at) - np.sin(motors["after"] * numbers))
        mujoco.mj_step(model, data)

    times = timed(advance, steps)
    mujoco.mj_kinematics(model, data)  # places were those at the start of the last step
    tip = data.geom_xpos[-1]
    return {
        "version": mujoco.__version__,
        "bodies": len(links),
        "steps": steps,
        "ms_per_step": 1e3 * float(np.median(times)),
        "least_ms": 1e3 * min(times),
        "worst_ms": 1e3 * max(times),
        "tip_m": tip.tolist() if np.isfinite(tip).all() else None,
    }


def _description(links: list, motors: dict | None, length: float, radius: float, mass: float, step: float) -> str:
    """The tree in MuJoCo's own format: bodies within bodies, frames at the start of each link, in world axes."""
    children: dict[int, list[int]] = {}
    for number, link in enumerate(links):
        children.setdefault(link["parent"], []).append(number)
    text, waiting = [], [(number, False) for number in reversed(children[-1])]
    while waiting:  # no recursion: chains are long
        number, done = waiting.pop()
        if done:
            text.append("</body>")
            continue
        text.append(_body(links, number, motors, (length, radius, mass)))
        waiting.append((number, True))
        waiting += [(child, False) for child in reversed(children.get(number, []))]
    driven = range(1, len(links)) if motors else ()
    actuators = "".join(_actuator(number, motors) for number in driven)
    options = f'<option timestep="{step:.17g}" integrator="implicitfast"/><compiler angle="radian"/>'
    collisions = "<default><geom contype='0' conaffinity='0'/></default>"
    return (
        f"<mujoco>{options}{collisions}<worldbody>{''.join(text)}</worldbody><actuator>{actuators}</actuator></mujoco>"
    )


def _body(links: list, number: int, motors: dict | None, sizes: tuple) -> str:
    (length, radius, mass), link = sizes, links[number]
    origin = links[link["parent"]]["start"] if link["parent"] >= 0 else (0.0, 0.0, 0.0)
    place = [a - b for a, b in zip(link["start"], origin)]
    end = [length * part for part in link["way"]]
    limits = f'limited="true" range="{_text(motors["limits"])}"' if motors else ""
    joint = f'<joint name="j{number}" type="hinge" axis="{_text(link["axis"])}" {limits}/>'
    held = motors and link["parent"] < 0
    shape = f'<geom type="capsule" fromto="0 0 0 {_text(end)}" size="{radius}" mass="{mass}"/>'
    return f'<body pos="{_text(place)}">{"" if held else joint}{shape}'


def _actuator(number: int, motors: dict) -> str:
    gains = f'kp="{motors["stiffness"]}" kv="{motors["damping"]}"'
    most = motors["torque"]
    return f'<position joint="j{number}" {gains} forcelimited="true" forcerange="{-most} {most}"/>'


def _text(values) -> str:
    return " ".join(f"{value:.17g}" for value in values)
