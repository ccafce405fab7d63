"""The mixed solver on sheets, rods, springs and what acts on them: the answers of Newton's method; T's KKT system."""

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli.group import main
from pliant.elements.mixed import MixedPotential
from pliant.elements.potential import ElementPotential
from pliant.solve import mixed
from pliant.solve.newton.assembling import act_alike
from pliant.solve.newton.closing import contacts_balanced


def sheet(law="stvk", young=1e6, size=1.0, **options):
    scene, cloth_options = pl.Scene(), {"thickness": 1e-3 * size, **options.pop("cloth", {})}
    material = getattr(pl.Material, law)(young, 0.3, 500, **options)
    cloth = scene.add_cloth(pl.meshes.grid((1.2 * size, 0.8 * size), (8, 6)), material, **cloth_options)
    cloth.pin("x < 0.001")
    return scene, cloth


def rod(young=2e9, radius=0.005, segments=20, **options):
    scene, line = pl.Scene(), np.linspace(0, 1, segments + 1)[:, None] * [1.0, 0, 0]
    wire = scene.add_rod(line, pl.Material.linear(young=young, poisson=0.3, density=7800, **options), radius=radius)
    wire.clamp(0)
    return scene, wire


def beam(law="neohookean", young=1e5, **options):
    scene = pl.Scene()
    material = getattr(pl.Material, law)(young=young, poisson=0.4, density=1000)
    body = scene.add_soft(pl.meshes.box((1.0, 0.2, 0.2), cells=(6, 2, 2)), material, **options)
    return scene, body


def places(sim, body):
    return (sim.rod(body).points if hasattr(body, "clamp") and not hasattr(body, "pin") else sim.positions(body)).copy()


def same(make, steps=6, dt=1 / 60, tolerance=1e-6, **mixed):
    """Steps of both solvers end at the same places, to 1e-6 of the motion."""
    found = []
    for solver in (pl.Newton(tolerance=tolerance), pl.Mixed(tolerance=tolerance, **mixed)):
        scene, body = make()
        sim = scene.simulate(dt=dt, solver=solver)
        start = places(sim, body)
        for _ in range(steps):
            sim.step()
            assert sim.info.converged
        found.append(places(sim, body))
    assert np.abs(found[1] - found[0]).max() < 1e-6 * np.abs(found[0] - start).max()


@pytest.mark.parametrize("law", ["stvk", "corotated", "neohookean", "arap"])
@pytest.mark.parametrize("young", [1e4, 1e6, 1e9])
def test_sheets_go_as_newtons(law, young):
    same(lambda: sheet(law, young))


def test_damped_sheets_with_fibres_and_in_wind_go_as_newtons():
    same(lambda: sheet(damping=2e-3))
    same(lambda: sheet(young=1e5, cloth={"fibres": pl.Fibres((1, 1, 0), 1e7)}))
    same(lambda: sheet(size=0.01, young=1e5))

    def flag():
        scene, cloth = sheet()
        cloth.wind((8, 1.5, 0))
        return scene, cloth

    same(flag, steps=10)


def test_rods_go_as_newtons():
    same(lambda: rod(1e6))
    same(lambda: rod(2e11))
    same(lambda: rod(radius=1e-3, segments=50))
    same(lambda: rod(damping=1e-3))


def test_pressure_moving_pins_and_springs_go_as_newtons():
    def pressed():
        scene, body = beam(young=1e4)
        body.pin("x < 0.001")
        body.pressure("z > 0.199", 2e3)
        return scene, body

    def shaken():
        scene, body = beam()
        body.pin("x < 0.001", velocity=lambda t: (0, 0, 2 * np.sin(20 * t)))
        return scene, body

    def beside():
        scene, body = beam()
        body.pin("x < 0.001")
        scene.add_soft(
            pl.meshes.box((0.3, 0.3, 0.3), cells=2), pl.Material.springs(young=1e5, density=1000), position=(2, 0, 0)
        )
        return scene, body

    same(pressed)
    same(shaken)
    same(beside)
    same(shaken, linear="matrix-free")


@pytest.mark.parametrize(
    ("young", "dt", "size"), [(1e3, 1 / 60, 1), (1e11, 1 / 60, 1), (1e5, 1 / 15, 1), (1e5, 1 / 240, 0.01)]
)
def test_sizes_stiffnesses_and_steps(young, dt, size):
    def scaled():
        scene, mesh = (
            pl.Scene(),
            pl.meshes.box((1.0 * size, 0.2 * size, 0.2 * size), cells=(5, 2, 1)),
        )  # lanes left over
        body = scene.add_soft(mesh, pl.Material.neohookean(young=young, poisson=0.4, density=1000))
        body.pin(body.nodes.x < 1e-6 * size)
        return scene, body

    same(scaled, dt=dt)


def test_own_laws_go_as_newtons():
    def energy(I1, J, mu, k):
        return mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2

    def own():
        scene, law = pl.Scene(), pl.Material.custom(energy, 1000, {"mu": 3e4, "k": 1e5})
        body = scene.add_soft(pl.meshes.box((1.0, 0.2, 0.2), cells=(6, 2, 2)), law)
        body.pin("x < 0.001")
        return scene, body

    same(own)


def test_a_stiff_membrane_converges_at_once():
    # nothing but stresses resists its folding, and those that a global step foresees are what counts
    scene = pl.Scene()
    material = pl.Material.neohookean(young=1e9, poisson=0.4, density=1e3)
    options = {"thickness": 1e-3, "bend_stiffness": 0.0, "thins": False}
    cloth = scene.add_cloth(pl.meshes.grid((1, 1), (30, 30)), material, **options)
    cloth.pin("x < 0.001")
    sim = scene.simulate(dt=1 / 60, solver=pl.Mixed(tolerance=1e-3)).step(6)
    for _ in range(10):
        sim.step()
        assert sim.info.converged
        assert sim.info.newton_iterations <= 12
    # held at one edge, the rest falls freely at first
    height = sim.positions(cloth)[:, 2].min()
    assert height == pytest.approx(-9.81 / 3600 * 16 * 17 / 2, rel=0.01)


@pytest.mark.parametrize("damping", [0.0, 1e-3])
def test_the_quadratic_of_sheets_is_the_law_at_their_stretches_and_has_its_derivatives(damping):
    scene, _ = sheet("neohookean", 1e5, damping=damping, cloth={"bend_stiffness": 0.0})
    sim, random = scene.simulate(dt=1 / 60), np.random.default_rng(3)
    model, x = sim.model, sim.state.x + 0.02 * random.normal(size=sim.state.x.shape)
    potential = MixedPotential(model.elements, model.node_count)
    potential.pace(1 / 60)
    potential.take(None, x)
    potential.expand()
    potential.turn(x, None, False)
    value, _, force = potential.evaluate(x)
    law = ElementPotential(model.elements, model.node_count)
    expected, _, expected_force = law.evaluate(x)
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(force, expected_force, atol=1e-9 * np.abs(expected_force).max())
    elsewhere, direction, small = x + 0.02 * random.normal(size=x.shape), random.normal(size=x.shape), 1e-6
    force = potential.evaluate(elsewhere)[2].copy()
    more, _, after = potential.evaluate(elsewhere + small * direction)
    less, _, before = potential.evaluate(elsewhere - small * direction)
    assert (more - less) / (2 * small) == pytest.approx(np.vdot(force, direction), rel=1e-6)
    blocks = np.zeros((model.elements.block_count, 9))
    potential.blocks(potential.terms(1.0), blocks)
    own, stiff = model.elements.sets[0], np.zeros_like(x)
    pairs = [(i, j) for i in range(3) for j in range(i + 1)]
    for nodes, k in zip(own.connectivity, own.own_blocks(blocks).reshape(-1, 6, 3, 3)[own.lanes]):
        for (i, j), block in zip(pairs, k):
            stiff[nodes[i]] += block @ direction[nodes[j]]
            if i != j:
                stiff[nodes[j]] += block.T @ direction[nodes[i]]
    change = (after - before) / (2 * small)
    np.testing.assert_allclose(stiff, change, atol=1e-5 * np.abs(change).max())


def everything():
    """Volumes, a sheet, a rod, rigid bodies, joints and contacts."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    soft = scene.add_soft(
        pl.meshes.box((0.3, 0.3, 0.3), cells=3), pl.Material.corotated(1e5, 0.4, 1000), position=(-0.15, -0.15, 0.01)
    )
    cloth = scene.add_cloth(
        pl.meshes.grid((0.4, 0.4), (4, 4)), pl.Material.stvk(1e5, 0.3, 300), thickness=4e-3, position=(0.6, 0.6, 0.02)
    )
    wire = scene.add_rod(
        np.linspace(0, 0.5, 11)[:, None] * [1.0, 0, 0],
        pl.Material.linear(young=1e8, poisson=0.3, density=1000),
        radius=0.01,
        position=(0.6, 0, 0.6),
    )
    wire.clamp(0)
    box = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=500, position=(1.15, 0, 0.6))
    scene.join(pl.Fixed(wire[10], box, at=(1.1, 0, 0.6)))
    bob = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=500, position=(-0.8, 0, 0.6))
    scene.join(pl.Distance(bob, pl.world, at=((-0.8, 0, 0.6), (-1.1, 0, 0.9))))
    return scene, soft, cloth, wire, bob


def test_a_scene_of_all_kinds_goes_as_newtons():
    ends = []
    for solver in (pl.Newton(tolerance=1e-4), pl.Mixed(tolerance=1e-4)):
        scene, soft, cloth, wire, bob = everything()
        sim = scene.simulate(dt=1 / 120, solver=solver).step(16)
        assert len(sim.contacts) > 0
        ends.append((sim.positions(soft).copy(), sim.positions(cloth).copy(), places(sim, wire), sim.pose(bob)[0]))
    for found, expected in zip(*ends):
        assert np.abs(found - expected).max() < 1e-5


def test_pins_beside_damped_rods_say_what_they_hold():
    forces = []
    for beside in (False, True):
        scene, body = beam()
        pin = body.pin("x < 0.001")
        if beside:
            law = pl.Material.linear(1e8, 0.3, 1000, damping=1e-3)
            line = np.linspace(0, 1, 9)[:, None] * [0, 1.0, 0] + [3, 0, 0]
            scene.add_rod(line, law, radius=0.01).clamp(0)
        forces.append(scene.simulate(dt=1 / 60, solver=pl.Mixed(tolerance=1e-5)).step(3).reaction(pin))
    np.testing.assert_allclose(*forces, rtol=1e-3, atol=1e-6)


def test_resuming_a_scene_of_all_kinds_is_exact(tmp_path):
    sim = everything()[0].simulate(dt=1 / 120, solver=pl.Mixed(outer=1, inner=3)).step(3)
    sim.checkpoint(tmp_path / "a.npz")
    again = pl.resume(tmp_path / "a.npz")
    sim.step(3)
    again.step(3)
    np.testing.assert_array_equal(sim.state.x, again.state.x)
    np.testing.assert_array_equal(sim.state.body_position, again.state.body_position)


def test_scene_files_say_mixed(tmp_path):
    text = """format = 1
[run]
dt = 0.01
seconds = 0.05
solver = {type = "mixed", outer = 2, inner = 4, system = "reduced"}
[materials.rubber]
law = "neohookean"
young = 1e5
poisson = 0.4
density = 1000
[[soft]]
name = "beam"
mesh = {box = [1, 0.2, 0.2], cells = [4, 1, 1]}
material = "rubber"
[[soft.pin]]
nodes = "x < 0.001"
"""
    (tmp_path / "beam.toml").write_text(text)
    result = CliRunner().invoke(main, ["run", str(tmp_path / "beam.toml")])
    assert result.exit_code == 0, result.output
    assert "mixed" in result.output


@pytest.mark.parametrize(("law", "young"), [("corotated", 1e5), ("neohookean", 1e6), ("corotated", 1e9)])
def test_the_kkt_system_of_the_paper_leads_to_the_same(law, young):
    def held():
        scene, body = beam(law, young, collide=False, self_contact=False)
        body.pin("x < 0.001")
        return scene, body

    same(held, steps=2, tolerance=1e-8, outer=60, inner=5, system="kkt")


@pytest.mark.parametrize(("law", "young"), [("corotated", 1e5), ("neohookean", 1e7)])
def test_the_rule_of_the_paper_goes_with_its_system(law, young):
    """Rotations by it stop a little short, with either system; those that followed multipliers would swing."""
    found = []
    for solver in (pl.Newton(tolerance=1e-6), pl.Mixed(system="kkt", rotation="procrustes")):
        scene, body = beam(law, young, collide=False, self_contact=False)
        body.pin("x < 0.001")
        sim = scene.simulate(dt=1 / 60, solver=solver)
        for _ in range(6):
            sim.step()
            assert sim.info.converged
        found.append(places(sim, body))
    assert np.abs(found[1] - found[0]).max() < 1e-2 * np.abs(found[0] - body.nodes.positions).max()


def test_what_the_kkt_system_has_no_place_for_is_refused():
    for scene, what in ((sheet()[0], "triangles of sheets"), (rod()[0], "segments of rods"), (everything()[0], "")):
        with pytest.raises(pl.SceneError, match=f"system='kkt'.*{what}"):
            scene.simulate(dt=1 / 60, solver=pl.Mixed(system="kkt"))
    with pytest.raises(pl.SceneError, match="Mixed system"):
        pl.Mixed(system="other")


def test_the_kkt_system_is_solved_in_its_own_way():
    """What asks for another way is refused, and the report says which it was."""
    for linear in ("pcg", "cholesky", "superlu"):
        with pytest.raises(pl.SceneError, match=f"linear='{linear}' is for system='reduced'"):
            pl.Mixed(system="kkt", linear=linear)
    scene, body = beam("corotated", 1e5, collide=False, self_contact=False)
    body.pin("x < 0.001")
    assert scene.simulate(1 / 60, solver=pl.Mixed(system="kkt")).step().info.linear == "kkt"
    assert scene.simulate(1 / 60, solver=pl.Mixed(linear="pcg")).step().info.linear == "pcg"


@pytest.mark.parametrize("beside", ["nothing", "plane", "sphere"])
def test_rigid_bodies_alone_move_as_with_newton(beside):
    """Without contacts, joints and elements there is nothing to mix."""
    scene = pl.Scene()
    box = scene.add_rigid(pl.Box((1, 0.5, 0.2)), mass=1, position=(0, 0, 50), angular_velocity=(1, 2, 3))
    if beside == "plane":
        scene.add_rigid(pl.Plane(), static=True)
    if beside == "sphere":
        scene.add_rigid(pl.Sphere(1), mass=1, position=(9, 0, 0))
    mixed, newton = (scene.simulate(dt=1 / 60, solver=solver).step(10) for solver in (pl.Mixed(), pl.Newton()))
    for one, other in zip(mixed.pose(box), newton.pose(box)):
        assert np.array_equal(one, other)
    assert mixed.info.converged


def test_rigid_bodies_that_touch_move_as_with_newton():
    """Four light boxes under a heavy one stay up, every step met; so does a capsule that a box falls on."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True)
    for place in range(5):
        mass = 100 if place == 4 else 1
        top = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), mass=mass, position=(0, 0, 0.05 + 0.1 * place))
    scene.add_rigid(pl.Capsule(0.03, 0.2), density=500, position=(2, 0, 0.3), rotation=(1, 2, 0, 1), friction=2.0)
    falling = {"position": (2, 0, 0.75), "rotation": (1, 0, 2, 0), "velocity": (0, 0, -10), "friction": 2.0}
    box = scene.add_rigid(pl.Box((0.2, 0.15, 0.1)), density=500, **falling)
    mixed, newton = (scene.simulate(dt=1 / 60, solver=solver) for solver in (pl.Mixed(), pl.Newton()))
    for _ in range(60):
        mixed.step()
        newton.step()
        assert mixed.info.converged == newton.info.converged
    assert mixed.info.solver == "mixed"
    for body in (top, box):
        for one, other in zip(mixed.pose(body), newton.pose(body)):
            assert np.array_equal(one, other)
    assert abs(mixed.pose(top)[0][2] - 0.45) < 1e-4  # a thousandth of a box


def test_contacts_come_into_balance_with_the_rows_that_were_found_last(monkeypatch):
    """Other contacts may be found at the end of a global step: the matrix that then balances them has these."""
    scene = pl.Scene()
    scene.add_rigid(pl.Plane(), static=True, friction=0.5)
    soft, cloth = pl.Material.corotated(1e6, 0.3, 1000), pl.Material.corotated(1e6, 0.3, 300)
    placed = {"position": (0, 0, 0.15), "rotation": (0.95, 0.2, 0.2, 0.1)}
    scene.add_soft(pl.meshes.box((0.2, 0.2, 0.2), cells=3), soft, **placed)
    scene.add_cloth(pl.meshes.grid((0.4, 0.4), 8), cloth, 1e-3, position=(-0.1, -0.1, 0.45))
    counts = []

    def watched(potential, system, *more):
        counts.append((act_alike(system, potential.row_potential.rows), len(system.rows.offset)))
        return contacts_balanced(potential, system, *more)

    monkeypatch.setattr(mixed, "contacts_balanced", watched)
    scene.simulate(1 / 60, solver=pl.Mixed()).step(25)
    assert len({entries for _, entries in counts}) > 1
    assert all(same for same, _ in counts)
