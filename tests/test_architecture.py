"""The rules of the house: who may import whom, what may be compiled, what a step may touch, how far an addition
reaches, and that files stay small enough to read."""

import ast
import pickle
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.checks import DEVICES
from pliant.elements import kinds
from pliant.kernels import device as devices
from pliant.kernels import joints as families
from pliant.kernels.joints import ROLE
from pliant.kernels.laws import LAWS as COMPILED_LAWS
from pliant.model.state import RowImpulses, State
from pliant.output.fields import COLOR_FIELDS
from pliant.output.recorder import SUFFIXES
from pliant.scene.catalogue import JOINTS
from pliant.scene.materials import LAWS
from pliant.scene_file.run import COLORS
from pliant.scene_file.values import OUTPUT_SUFFIXES
from pliant.solve.dual.eliminated import EliminatedSolver
from pliant.solve.dual.solver import DualSolver
from pliant.solve.explicit import ExplicitSolver
from pliant.solve.linear import LinearSolver
from pliant.solve.newton.solver import NewtonSolver
from pliant.solve.problem import Problem
from pliant.solve.xpbd import XpbdSolver
from pliant.stepping.step import step

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "pliant"
SOURCES = sorted(PACKAGE.rglob("*.py"))
COMPILED_ROOMS = ("kernels", "formulas")
# What makes compiled code of a function, ours and Numba's.
COMPILERS = {"formula", "kernel", "parallel_kernel", "kernel_in"}
COMPILERS |= {"njit", "jit", "vectorize", "guvectorize", "stencil", "cfunc", "overload", "intrinsic"}
# What computes on the host, whatever the device of a simulation: how sparse factors fill, distances from shapes while a
# model is built, problems given as matrices, pictures, meshes.
ON_THE_HOST = {"linalg/block_ldl.py", "linalg/box_qp.py", "model/couplings.py", "output/drawing/raster.py"}
ON_THE_HOST |= {"benchmarks/surfaces.py", "meshes/compiled.py"}
FAMILIES = ("BALL", "ANGULAR", "DISTANCE", "ALIGN", "LIMIT", "MOTOR", "LINE", "PLANE", "PERPENDICULAR", "ROPE")
FAMILIES += ("COUPLING",)


def place(path: Path) -> str:
    """A source file as the architecture page names it."""
    return path.relative_to(PACKAGE).as_posix()


def room(path: Path) -> str:
    return place(path).split("/")[0]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> list[tuple[str, str]]:
    """(module, name) of all absolute imports of a file; a plain import has no name."""
    nodes = list(ast.walk(tree(path)))
    plain = [(alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named = [node for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return plain + [(node.module, alias.name) for node in named for alias in node.names]


def files_that_know(name: str) -> set[str]:
    """Source files in which a name is defined, used or imported; words, strings and `pl.NAME` do not count."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(tree(path)):
            known = isinstance(node, ast.ClassDef) and node.name == name
            known |= isinstance(node, ast.Name) and node.id == name
            known |= isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names)
            if known:
                found.add(place(path))
    return found


def functions(path: Path) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree(path).body if isinstance(node, ast.FunctionDef)}


def calls(function: ast.FunctionDef) -> list[str]:
    """Names of what a function calls, in the order of the text."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    ordered = sorted(found, key=lambda node: (node.lineno, node.col_offset))
    return [getattr(node.func, "id", getattr(node.func, "attr", "")) for node in ordered]


# ---- who may import whom


def test_import_rules_hold(capsys):
    cli = pytest.importorskip("importlinter.cli")
    code = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(("own", "known"), [("formulas", ()), ("kernels", ("formulas", "errors"))])
def test_compiled_rooms_know_no_other_rooms(own, known):
    allowed = tuple(f"pliant.{name}" for name in (own, "jit", *known))
    paths = [path for path in SOURCES if room(path) == own]
    assert paths
    for path in paths:
        ours = {module for module, _ in imports(path) if module.split(".")[0] == "pliant"}
        assert not [module for module in ours if not f"{module}.".startswith(tuple(f"{a}." for a in allowed))], path


# ---- what is compiled


def test_nothing_else_is_compiled():
    found = set()
    for path in SOURCES:
        if room(path) in (
            *COMPILED_ROOMS,
            "jit.py",
            "compiler.py",
            "code_files.py",
            "shortcuts.py",
            "lowering.py",
            "calls.py",
            "wrapping.py",
            "passes.py",
        ):
            continue
        for module, name in imports(path):
            if module.split(".")[0] in ("numba", "llvmlite") and name != "get_num_threads":
                found.add((place(path), f"{module} {name}"))
            if module == "pliant.compiler" or (module == "pliant.jit" and name in COMPILERS | {""}):
                found.add((place(path), name))
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                for decorator in node.decorator_list:
                    called = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if getattr(called, "id", getattr(called, "attr", "")) in COMPILERS:
                        found.add((place(path), node.name))
    assert not found


# ---- where it runs


def test_no_room_but_the_kernels_names_a_device():
    """A simulation's kernels come from its device; what is named is the host, by the few who compute there."""
    packages = tuple(f"pliant.kernels.{name}." for name in devices.DEVICES)
    named, host = [], set()
    for path in SOURCES:
        if room(path) == "kernels":
            continue
        found = imports(path)
        named += [(place(path), module) for module, name in found if f"{module}.{name}.".startswith(packages)]
        attributes = {node.attr for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute)}
        if "HOST" in attributes or any(name == "HOST" for _, name in found):
            host.add(place(path))
    assert not named
    assert host == ON_THE_HOST


def test_no_room_asks_which_device_it_has():
    for path in SOURCES:
        for node in ast.walk(tree(path)):
            if room(path) != "kernels" and isinstance(node, ast.Attribute) and node.attr == "name":
                owner = getattr(node.value, "id", getattr(node.value, "attr", ""))
                assert owner not in ("device", "HOST"), f"{place(path)}:{node.lineno}"


def test_a_device_gives_its_kernels_by_subject():
    own = devices.Device("cpu")
    assert "rows" not in vars(own)
    assert own.rows.row_rates is devices.HOST.rows.row_rates
    assert vars(own)["rows"].__name__ == "pliant.kernels.cpu.rows"
    assert own.linalg.pcg.solve_pcg is devices.HOST.linalg.pcg.solve_pcg
    with pytest.raises(AttributeError, match="no kernels for 'magic'"):
        own.linalg.magic  # noqa: B018
    assert pickle.loads(pickle.dumps(own)) is devices.HOST
    with pytest.raises(ValueError, match="there is no device 'tpu'; there are: cpu, cuda"):
        devices.device("tpu")


def test_a_device_computes_for_the_host_with_the_hosts_kernels():
    cuda = devices.device("cuda")
    assert cuda.rows.row_rates is devices.HOST.rows.row_rates and devices.HOST.resident is None
    assert cuda.resident.codes.__name__ == "pliant.kernels.cuda.codes"
    assert pickle.loads(pickle.dumps(cuda)) is cuda


@pytest.mark.parametrize("name", ["tpu", "CPU", None, 0])
def test_a_device_that_is_not_there_is_refused_before_anything_is_built(name):
    scene = pl.Scene()  # which nothing can be built of
    message = f"device {name!r} is not available; there are 'cpu' and 'cuda'"
    asked = (lambda: scene.simulate(0.01, device=name), lambda: scene.equilibrium(device=name))
    for call in (*asked, lambda: scene.modes(1, device=name)):
        with pytest.raises(pl.SceneError, match=re.escape(message)):
            call()


# ---- what a step is


def test_a_step_is_on_one_screen():
    own = functions(PACKAGE / "stepping" / "step.py")
    length = {name: node.end_lineno - node.lineno + 1 for name, node in own.items()}
    assert max(length.values()) <= 25, length
    stages = ("predict", "detect", "fill_rows", "pose", "solve", "check_motion", "integrate", "close_gaps", "_measured")
    assert [name for name in calls(own["pose"]) if name in stages] == ["predict", "detect", "fill_rows"]
    wanted = ["pose", "solve", "check_motion", "integrate", "close_gaps", "_measured"]
    assert [name for name in calls(own["advance"]) if name in stages] == wanted


def test_states_and_problems_are_frozen():
    for kind in (State, RowImpulses, Problem):
        assert kind.__dataclass_params__.frozen, kind


def soft_and_rigid() -> pl.Scene:
    """A block of clay on the floor, and a ball that hangs from it."""
    scene = pl.Scene()
    clay = pl.Material.corotated(5e4, 0.3, 800, damping=0.01, plasticity=pl.Plasticity(0.001, 40, 0.4))
    block = scene.add_soft(pl.meshes.box((0.2, 0.1, 0.1), cells=(2, 1, 1)), clay)
    block.pin("x < 1e-6")
    ball = scene.add_rigid(pl.Sphere(0.03), density=3000, position=(0.3, 0.05, 0.05), collide=False)
    scene.join(pl.Ball(ball, block, at=(0.2, 0.05, 0.05)))
    scene.add_rigid(pl.Plane(), static=True)
    return scene


@pytest.mark.parametrize("solver", [pl.Newton(), pl.Dual()], ids=["newton", "dual"])
def test_a_step_writes_nothing_into_the_old_state(solver):
    sim = soft_and_rigid().simulate(dt=0.01, solver=solver, threads=1)
    state = sim.state
    for _ in range(3):
        arrays = state.arrays()
        before = {name: np.array(value, copy=True) for name, value in arrays.items()}
        new, _ = step(sim.model, state, sim.working_solver, sim.dt)
        after = state.arrays()
        assert list(after) == list(before)
        for name, value in before.items():
            assert after[name] is arrays[name] or np.ndim(value) == 0, name
            assert np.asarray(after[name]).tobytes() == value.tobytes(), name
        assert new.step == state.step + 1
        assert not np.array_equal(new.x, state.x)
        state = new
    assert np.any(state.plastic_strain)
    assert len(state.impulses.contacts)


@pytest.mark.parametrize(
    "solver", [NewtonSolver, DualSolver, EliminatedSolver, LinearSolver, ExplicitSolver, XpbdSolver]
)
def test_solvers_say_what_a_step_must_know(solver):
    assert solver.name
    assert solver.equations in ("implicit", "warped", "explicit")
    assert solver.linear_rows == hasattr(solver, "close_gaps")


# ---- how far an addition reaches


def test_solvers_know_laws_by_their_columns():
    """No solver, nor what it works with, compares a law with a name or asks for one by its name."""
    rooms = ("collide", "elements", "linalg", "model", "readers", "rows", "solve", "statics", "stepping")
    found = []
    for path in SOURCES:
        if room(path) not in rooms:
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                inside = [part for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)]
                equal = any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops)
                named = any(part.value in LAWS for part in inside if isinstance(part.value, str))
                if named or (equal and any(getattr(side, "attr", "") == "law" for side in sides)):
                    found.append(f"{place(path)}:{node.lineno}")
            elif isinstance(node, ast.Attribute) and node.attr == "name" and getattr(node.value, "id", "") == "law":
                found.append(f"{place(path)}:{node.lineno}")
    assert not found


@pytest.mark.parametrize("name", [kind.__name__ for kind in JOINTS.values()])
def test_few_files_know_a_joint(name):
    """Its own, the list of all, the model's joints; and for what is no joint of two points one more. (A user's uses, as
    in the demonstration, are `pl.NAME`, and the package finds public names by a table.)"""
    known = files_that_know(name)
    assert known - {"scene_file/write.py", "model/build.py"} <= {
        "scene/joints.py",
        "scene/couplings.py",
        "model/joints.py",
        "model/couplings.py",
    }
    assert len(known) <= 5


@pytest.mark.parametrize("name", FAMILIES)
def test_few_files_know_a_family_of_rows(name):
    known = {
        place(path) for path in SOURCES for module, word in imports(path) if word == name and "joints" in module
    } | {"kernels/joints.py", "kernels/cpu/joints.py"}
    known |= {place(path) for path in SOURCES if f"rows.{name}" in path.read_text(encoding="utf-8")}
    assert known & {"model/joints.py", "model/couplings.py"}
    assert len(known) <= 6, known


@pytest.mark.parametrize("name", [name for name, value in vars(kinds).items() if isinstance(value, kinds.Kind)])
def test_few_files_know_a_kind_of_element(name):
    known = files_that_know(name)
    assert "elements/kinds.py" in known
    assert ("model/soft.py" in known) == (not getattr(kinds, name).on_bodies)  # what is on bodies has no mesh
    assert len(known) <= 3, known  # the third is that of its set


def test_lists_that_two_rooms_keep_say_the_same():
    """Scenes and their files know no room that compiles, so they have lists of their own."""
    assert set(LAWS) == set(COMPILED_LAWS)
    assert set(COLORS) == {*COLOR_FIELDS, "none"}
    assert set(OUTPUT_SUFFIXES) == set(SUFFIXES)
    assert set(DEVICES) == set(devices.DEVICES)
    assert set(ROLE) == {getattr(families, name) for name in FAMILIES}


# ---- what can be read


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_files_are_short_and_say_what_they_are(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 360
    assert not lines or lines[0].startswith('"""')


def test_every_room_is_in_the_architecture_page():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {room(path) for path in SOURCES} - {"__init__.py", "_version.py"}
    assert not [name for name in sorted(rooms) if f"`{name}" not in page]


def test_every_file_of_the_architecture_page_is_there():
    """Files by their place in the package, or in the project; in the rows of a table of rooms, in that room."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for line in page.splitlines():
        own = re.match(r"\| `([\w/]+)/` \|", line)
        homes = [ROOT, PACKAGE, *([PACKAGE / own[1]] if own else [])]
        for name in re.findall(r"`([\w/]+(?:\.(?:py|toml|md)|/))`", line):
            assert any((home / name).exists() for home in homes), name
