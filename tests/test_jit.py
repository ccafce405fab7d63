"""Compiled code: made anew when its own sources change, removed only if pliant made it, the same bits in every run."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pliant import jit

# modules that the cold run compiles anew; the others come from the cache that all tests share
COLD = ("pliant.kernels.cpu.stiffness", "pliant.kernels.cpu.contacts")
SCENE = """
import hashlib
import numpy as np
import pliant as pl

scene = pl.Scene(gravity=(0, 0, -9.81))
rubber = pl.Material.corotated(young=1e5, poisson=0.4, density=1000, damping=0.01)
beam = scene.add_soft(pl.meshes.box((1, 0.2, 0.2), cells=(5, 2, 2)), rubber, position=(0, 0, 0.1))
beam.pin(beam.nodes.x < 1e-6)
ball = scene.add_rigid(pl.Sphere(0.1), density=500, position=(1.1, 0.1, 0.2))
scene.join(pl.Ball(ball, beam, at=(1, 0.1, 0.2)))
scene.add_rigid(pl.Plane(), static=True, friction=0.5)
simulation = scene.simulate(dt=1 / 60).step(30)
assert len(simulation.contacts.impulses) > 0
arrays = {name: value for name, value in vars(simulation.state).items() if isinstance(value, np.ndarray)}
assert len(arrays) > 5
print(hashlib.sha256(b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays))).hexdigest())
"""


def _bits(**environment: str) -> str:
    """Hash of the state after some steps of a scene, in a process of its own."""
    command = [sys.executable, "-c", SCENE]
    run = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def _compiled(home: Path) -> set[str]:
    """Modules with compiled code in a folder."""
    return {path.relative_to(home).parts[0].rpartition("-")[0] for path in home.rglob("*.nbc")}


def test_the_run_that_compiles_has_the_bits_of_runs_from_the_cache(tmp_path):
    before, home = _bits(), tmp_path / jit.HOME
    home.mkdir(mode=0o700)
    for folder in jit._home().iterdir():
        if folder.name.rpartition("-")[0] not in COLD:
            shutil.copytree(folder, home / folder.name, ignore=shutil.ignore_patterns("*.tmp*", "law_*"))
    assert not _compiled(home) & set(COLD)
    cold = _bits(PLIANT_CACHE=str(tmp_path))
    assert _compiled(home) >= set(COLD)
    warm = _bits(PLIANT_CACHE=str(tmp_path))
    assert before == cold == warm


# ---- which edits recompile


FILES = {
    "__init__.py": "from pliant.scene import Scene\n",
    "scene.py": "import pliant.kernels.loops\n",
    "jit.py": "",
    "formulas/__init__.py": "CONSTANT = 1\n",
    "formulas/matrix.py": "def determinant():\n    from pliant.formulas import vector\n",
    "formulas/vector.py": "",
    "formulas/other.py": "",
    "kernels/__init__.py": "",
    "kernels/loops.py": "from pliant.formulas.matrix import (\n    determinant,\n)\nfrom pliant.jit import kernel\n",
    "kernels/plain.py": "import pliant.formulas.other\nfrom pliant.formulas import CONSTANT\n",
    "kernels/prose.py": '"""Loops\n\nfrom pliant formulas, and more.\n"""\nfrom pliant.formulas.other import x\n',
}


def _package(folder: Path, **edits: str) -> Path:
    """A small package of that shape; edits: file name without its suffix, and what is added to its text."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + edits.get(path.stem, ""), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("pliant.kernels.loops", {"kernels/loops.py", "formulas/matrix.py", "formulas/vector.py"}),
        ("pliant.kernels.plain", {"kernels/plain.py", "formulas/other.py", "formulas/__init__.py"}),
        ("pliant.kernels.prose", {"kernels/prose.py", "formulas/other.py"}),
        ("pliant.formulas.vector", {"formulas/vector.py"}),
        ("pliant.kernels", {name for name in FILES if "/" in name}),
    ],
)
def test_a_module_is_made_of_its_file_and_of_what_that_imports(tmp_path, module, expected):
    package = _package(tmp_path)
    assert {path.relative_to(package).as_posix() for path in jit.sources(module, package)} == expected


@pytest.mark.parametrize(
    ("edited", "changed"),
    [("vector", True), ("matrix", True), ("loops", True), ("scene", False), ("other", False), ("jit", False)],
)
def test_only_edits_of_what_a_kernel_imports_change_its_folder(tmp_path, edited, changed):
    before = jit.source_hash("pliant.kernels.loops", _package(tmp_path / "before"))
    after = jit.source_hash("pliant.kernels.loops", _package(tmp_path / "after", **{edited: "# edited\n"}))
    assert (before != after) == changed


def test_users_laws_depend_on_all_kernels_and_on_nothing_of_the_scene():
    files = {path.relative_to(jit.PACKAGE).as_posix() for path in jit.sources("pliant.kernels")}
    assert {"kernels/cpu/hyperelastic.py", "kernels/laws.py", "formulas/hyperelastic.py"} <= files
    assert not {"scene.py", "simulation.py", "jit.py", "__init__.py"} & files


def test_the_compilers_settings_change_every_folder(monkeypatch, tmp_path):
    before = jit.source_hash("pliant.kernels.loops", _package(tmp_path / "before"))
    monkeypatch.setattr(jit, "FASTMATH", {"contract"})
    assert jit.source_hash("pliant.kernels.loops", _package(tmp_path / "after")) != before


def test_hashing_is_fast():
    code = (
        "import time; from pliant import jit; start = time.process_time(); "
        "[jit.source_hash(name) for name in jit._modules(jit.PACKAGE) if name.startswith(('pliant.kernels', "
        "'pliant.formulas', 'pliant.linalg'))]; print(time.process_time() - start)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 0.1  # 0.01 s on an idle machine


# ---- what is removed


@pytest.fixture
def root(monkeypatch, tmp_path):
    """A cache of its own for one test."""
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(jit.tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    cached = (jit._home, jit._temporary_home, jit.cache_folder)
    for function in cached:
        function.cache_clear()
    yield tmp_path / "cache"
    for function in cached:
        function.cache_clear()


def _version(home: Path, name: str, age: float, marker: bool = True) -> Path:
    """A folder like one of an older version, last used `age` seconds ago."""
    (home / name).mkdir(parents=True)
    if marker:
        (home / name / jit.MARKER).touch()
        os.utime(home / name / jit.MARKER, (time.time() - age,) * 2)
    (home / name / "code.nbc").write_bytes(b"code")
    return home / name


def test_old_versions_of_a_module_go_and_the_newest_stay(root):
    (root / jit.HOME).mkdir(parents=True, mode=0o700)
    versions = [_version(root / jit.HOME, f"pliant.kernels-{age:016x}", age) for age in range(10, 17)]
    other = _version(root / jit.HOME, f"pliant.kernels.cpu.system-{1:016x}", 100)
    unused = _version(root / jit.HOME, f"pliant.gone-{1:016x}", jit.FORGOTTEN_AFTER + 100)
    folder = jit.cache_folder()
    assert folder.parent == root / jit.HOME and (folder / jit.MARKER).is_file()
    assert [path.exists() for path in versions] == [True] * (jit.KEPT_VERSIONS - 1) + [False] * 4
    assert other.exists() and not unused.exists()


def test_what_pliant_did_not_make_stays(root, tmp_path):
    (root / jit.HOME).mkdir(parents=True, mode=0o700)
    (root / "thesis.txt").write_text("years of work")
    foreign = [_version(root, name, 1e9, marker=False) for name in ("photos", "thesis", "a", "b", "c", "d", "e")]
    foreign += [_version(root, f"pliant.kernels-{age:016x}", 1e9 + age) for age in range(8)]  # outside our folder
    foreign += [_version(root / jit.HOME, f"pliant.kernels-{age:016x}", 1e9, marker=False) for age in range(8)]
    foreign += [_version(root / jit.HOME, f"mine{age}", 1e9) for age in range(8)]  # no name of ours
    target = _version(tmp_path, f"pliant.kernels-{99:016x}", 1e9)
    (root / jit.HOME / target.name).symlink_to(target)
    jit.cache_folder()
    assert all((path / "code.nbc").read_bytes() == b"code" for path in [*foreign, target])
    assert (root / "thesis.txt").read_text() == "years of work"


# ---- where we cannot write, or others can


def test_a_cache_that_cannot_be_written_falls_back_to_a_private_temporary_folder(root, tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "can_write", lambda folder: root not in folder.parents)
    folder = jit.cache_folder()
    assert folder.parent == tmp_path / "temporary" / f"{jit.HOME}-{os.geteuid()}"
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert not any((root / jit.HOME).iterdir())


def test_a_cache_that_cannot_be_made_falls_back(root, tmp_path):
    root.write_text("a file where the folder should be")
    assert jit.cache_folder().parent.parent == tmp_path / "temporary"


def test_kernels_of_an_unwritable_cache_compile_and_nothing_lies_in_the_package(root, monkeypatch):
    monkeypatch.setattr(jit, "can_write", lambda folder: root not in folder.parents)
    kernel = jit.kernel(_double)
    assert kernel(3) == 6
    assert jit._home().name.startswith(jit.HOME) and list(jit._home().rglob("*.nbc"))
    assert not list(Path(__file__).parent.rglob("test_jit._double*")) and not list(jit.PACKAGE.rglob("*.nb[ci]"))


def _double(x):
    return x + x


def _of_another_user(folder: Path) -> None:
    folder.mkdir()
    try:
        os.chown(folder, os.geteuid() + 1, -1)
    except PermissionError:
        pytest.skip("only root can give a folder away")


def _open_to_all(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def _link(folder: Path) -> None:
    target = folder.with_name("elsewhere")
    target.mkdir(mode=0o700)
    folder.symlink_to(target)


@pytest.mark.parametrize("spoil", [_of_another_user, _open_to_all, _link])
def test_code_is_never_taken_from_a_folder_that_others_made(root, tmp_path, spoil):
    root.write_text("a file where the folder should be")
    spoiled = tmp_path / "temporary" / f"{jit.HOME}-{os.geteuid()}"
    spoil(spoiled)
    home = jit.cache_folder().parent
    assert home != spoiled and home.stat().st_mode & 0o777 == 0o700
    assert not list(spoiled.iterdir())


@pytest.mark.parametrize("spoil", [_of_another_user, _open_to_all, _link])
def test_a_spoiled_cache_is_not_used_either(root, tmp_path, spoil):
    root.mkdir()
    spoil(root / jit.HOME)
    assert jit.cache_folder().parent.parent == tmp_path / "temporary"


def test_compiled_code_that_cannot_be_read_is_made_again(tmp_path):
    """As after an update in which a class that compiled code names has moved, or when a file is damaged."""
    script = tmp_path / "script.py"
    script.write_text(
        "import pliant.kernels.cpu.balance as b, numpy as np\nprint(b.inertia_terms(np.ones((1, 3, 3)), "
        "np.ones((1, 3)), np.ones((1, 3)), np.ones((1, 3))))\n"
    )
    environment = os.environ | {"PLIANT_CACHE": str(tmp_path / "cache")}
    (tmp_path / "cache").mkdir()
    first = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert kept
    for path in kept:
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
    second = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    assert second.stdout == first.stdout
