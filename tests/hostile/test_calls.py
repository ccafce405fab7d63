"""Calls of everything public with arguments that fit and arguments that do not: a result or a PliantError, at once."""

import pytest

hypothesis = pytest.importorskip("hypothesis")

from hypothesis import strategies as st  # noqa: E402

import calls  # noqa: E402
import fitting  # noqa: E402
import limits  # noqa: E402
import pliant as pl  # noqa: E402
from mutations import VALUES  # noqa: E402

pytestmark = pytest.mark.hostile


def names(w: calls.World) -> list[str]:
    """What can be called in a world that is simulated."""
    w.simulated()
    w.ringing()
    return sorted(calls.callables(w))


NAMES, DRESSED_NAMES = names(calls.world()), names(calls.world().dressed())
COUNT = {"cases": 0, "calls": 0, "refused": 0}
"""What was done."""


def arguments(draw, w, name: str, function) -> dict:
    """Arguments for a call: those that must be there, and some others; some of them hostile."""
    known, chosen = fitting.samples(w), {}
    for key, parameter in calls.parameters(name, function).items():
        needed = parameter.default is parameter.empty
        if not needed and draw(st.integers(0, 2), label=f"leave out {key}") != 2:
            continue
        if key in known and draw(st.integers(0, 2), label=f"hostile {key}") != 2:
            value = draw(st.sampled_from(range(len(known[key]))), label=f"sample of {key}")
            chosen[key] = known[key][value]
        else:
            chosen[key] = VALUES[draw(st.integers(0, len(VALUES) - 1), label=key)]
    return chosen


def one_case(draw, note, folder) -> None:
    """A few calls in a fresh world."""
    dressed = draw(st.booleans(), label="with a sheet and a rod")
    w = calls.world(folder).dressed() if dressed else calls.world(folder)
    for _ in range(draw(st.integers(1, 3), label="calls")):
        name = draw(st.sampled_from(DRESSED_NAMES if dressed else NAMES), label="call")
        if name == "scene.equilibrium":
            w = calls.world(folder, joints=False)
            w = w.dressed() if dressed else w
        one_call(draw, note, w, name)


def one_call(draw, note, w: calls.World, name: str) -> None:
    """One call; what it leaves is then simulated for a step."""
    COUNT["calls"] += 1
    if name.startswith(("sim.", "many.", "recorder.")) or name == "Recorder":
        w.simulated()
    if name.startswith("modes."):
        w.ringing()
    function = calls.callables(w)[name]
    given = arguments(draw, w, name, function)
    note(f"{name}({', '.join(f'{key}={value!r:.200}' for key, value in given.items())})")
    with limits.limited(seconds=10):  # a law of one's own is compiled
        try:
            result = function(**given)
        except pl.PliantError:
            COUNT["refused"] += 1
            raise
        follow(w, name, result)


def follow(w: calls.World, name: str, result) -> None:
    """What was taken must also be good for a step."""
    if isinstance(result, pl.Recorder):
        result.frame()
    if hasattr(result, "kind") and hasattr(pl, name):
        w.scene.join(result)
    if type(result) in (pl.Newton, pl.Dual, pl.Mixed, pl.Linear, pl.Explicit, pl.Xpbd):
        w.scene.simulate(0.01, solver=result).step()
    if isinstance(result, pl.Material):
        w.scene.add_soft(pl.meshes.box((1, 1, 1), 1), result, position=(0, 0, 5))
    if isinstance(result, pl.Section):
        w.scene.add_rod([(9, 0, 0), (9, 1, 0)], pl.Material.linear(1e6, 0.3, 1000), section=result)
    if isinstance(result, pl.Fibres):
        w.scene.add_cloth(pl.meshes.grid((1, 1), 1), pl.Material.corotated(1e6, 0.3, 300), 0.001, fibres=result)
    if name in ("Sphere", "Box", "Capsule", "Cylinder", "Cone", "Hull", "Mesh"):
        w.scene.add_rigid(result, density=1000, position=(0, 0, 9))
    if name == "scene.modes":
        result.save(w.folder / "mode.png", len(result) - 1)
        result.shape(w.soft, 0)
    if isinstance(result, pl.Simulations):
        assert result.step().close() is None and len(result.positions("soft")) == len(result)
    if not name.startswith(("sim.", "many.", "recorder.", "mesh", "surface")):
        w.scene.simulate(0.01).step()
    if name.startswith("many."):
        w.many.step()
    if name.startswith("sim.") and not name.endswith(".run"):
        w.sim.step()


def test_public_calls_end_well_or_say_what_is_wrong(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    limits.trials(lambda draw, note: one_case(draw, note, tmp_path), COUNT)
