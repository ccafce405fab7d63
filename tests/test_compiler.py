"""What becomes machine code: kernels that Python calls; and that the rest can be called all the same."""

import gc
import importlib.util
import os
import shutil
import signal
import sys

import numba
import numpy as np
import pytest

from pliant import notices
from pliant.compiler import InnerLibrary, KernelLibrary
from pliant.interruptions import interruptions_later
from pliant.jit import cache_folder, formula, kernel_in


@formula
def square(x):
    return x * x


@formula
def cube(x):
    return square(x) * x


def _fill(values, first):
    for index in range(len(values)):
        values[index] = cube(values[index]) + first


def _total(values):
    _FILL(values, 1)
    total = 0.0
    for index in numba.prange(len(values)):
        total += values[index]
    return total


_FILL = kernel_in(cache_folder(), _fill, parallel=False)


def test_only_what_python_calls_becomes_machine_code(tmp_path):
    total, fill = kernel_in(tmp_path, _total), _FILL
    assert total(np.arange(3.0)) == 12.0
    (result,) = total.overloads.values()
    assert isinstance(result.library, KernelLibrary)
    assert not fill.overloads and not cube.overloads and len(fill.inner.overloads) == len(cube.inner.overloads) == 1
    inner = [each.library for function in (fill, cube) for each in function.inner.overloads.values()]
    assert all(isinstance(library, InnerLibrary) for library in inner)
    assert gc.isenabled() and not isinstance(result.library.codegen.create_library("other"), InnerLibrary)


def _row(values, index):
    return values[index]


def _row_sum(values, index):
    total = 0.0
    for value in _ROW(values, index):
        total += value
    return total


def _doubled(values):
    out = np.empty(len(values))
    for index in range(len(values)):
        out[index] = 2.0 * values[index]
    return out


_ROW = kernel_in(cache_folder(), _row, parallel=False)


def test_only_what_makes_arrays_counts_references(tmp_path):
    fill, row_sum, doubled = (kernel_in(tmp_path, each, parallel=False) for each in (_fill, _row_sum, _doubled))
    values = np.arange(6.0).reshape(2, 3)
    before = sys.getrefcount(values)
    assert [row_sum(values, 1) for _ in range(100)] == [12.0] * 100
    assert doubled(values[1]).tolist() == [6.0, 8.0, 10.0]
    fill(values[0], 0)
    assert values[0].tolist() == [0.0, 1.0, 8.0] and sys.getrefcount(values) == before
    counting = {each: "NRT_" in next(iter(each.inspect_llvm().values())) for each in (fill, row_sum, doubled)}
    assert list(counting.values()) == [False, True, True]


def test_what_kernels_call_can_be_called_from_python_too(tmp_path):
    assert kernel_in(tmp_path, _total)(np.arange(3.0)) == 12.0
    values = np.arange(3.0)
    _FILL(values, 2)
    assert values.tolist() == [2.0, 3.0, 10.0] and cube(2.0) == 8.0 and cube(3) == 27


def test_functions_of_users_may_call_formulas():
    assert numba.njit(lambda x: cube(x) + square(x))(2.0) == 12.0


def test_one_inner_function_serves_all_kinds_of_integers(tmp_path):
    def both(values, count):
        _FILL(values, 1)
        _FILL(values, count)
        _FILL(values, np.int32(2))

    kernel_in(tmp_path, both, parallel=False)(np.zeros(2), 5)
    assert len(_FILL.inner.overloads) == 1


def test_a_function_of_a_user_called_by_a_kernel_can_be_called_from_python(tmp_path):
    half = numba.njit(lambda x: cube(x) / 2)

    def halves(x):
        return half(x)

    assert kernel_in(tmp_path, halves, parallel=False)(2.0) == 4.0
    assert half(2.0) == 4.0


def test_processes_that_compile_at_once_keep_codes_apart(tmp_path):
    """The one is between its two files when the other writes: each loads its own code later, or none."""
    files = [kernel_in(tmp_path, _fill)._cache._cache_file for _ in range(3)]
    real = files[0]._save_data

    def meanwhile(name, data):
        files[1].save("floats", "code for floats")
        real(name, data)

    files[0]._save_data = meanwhile
    files[0].save("integers", "code for integers")
    found = {key: files[2].load(key) for key in ("integers", "floats")}
    assert found["integers"] == "code for integers"
    assert found["floats"] in (None, "code for floats")


def test_code_that_cannot_be_kept_is_used_all_the_same(tmp_path):
    """The folder has gone, and a file is in its place."""
    folder = tmp_path / "cache"
    folder.mkdir()
    total = kernel_in(folder, _total)
    shutil.rmtree(folder)
    folder.write_text("")
    assert total(np.arange(3.0)) == 12.0


def test_an_interruption_waits_for_the_compiler(tmp_path, monkeypatch):
    """Ctrl-C in the midst: the function is whole, and then it is heard; a second one is heard at once."""
    total, real = kernel_in(tmp_path, _total), KernelLibrary.finalize

    def interrupted(library):
        signal.raise_signal(signal.SIGINT)
        real(library)

    monkeypatch.setattr(KernelLibrary, "finalize", interrupted)
    with pytest.raises(KeyboardInterrupt):
        total(np.arange(3.0))
    assert len(total.overloads) == 1 and total(np.arange(3.0)) == 12.0
    reached = []
    with pytest.raises(KeyboardInterrupt), interruptions_later():
        signal.raise_signal(signal.SIGINT)
        reached.append("first")
        signal.raise_signal(signal.SIGINT)
        reached.append("second")
    assert reached == ["first"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


KERNEL = """
def add_up(values):
    total = 0.0
    for value in values:
        total += value
    return total
"""


def _from(folder, monkeypatch):
    """The function of a module of one name in a folder, compiled."""
    folder.mkdir()
    (folder / "copied_kernel.py").write_text(KERNEL)
    os.utime(folder / "copied_kernel.py", (len(folder.name), len(folder.name)))
    specification = importlib.util.spec_from_file_location("copied_kernel", folder / "copied_kernel.py")
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "copied_kernel", module)
    specification.loader.exec_module(module)
    made = kernel_in(folder.parent, module.add_up, parallel=False)
    assert made(np.arange(3.0)) == 3.0
    return made.stats


def test_another_copy_of_the_sources_finds_the_code(tmp_path, monkeypatch):
    """Neither the folder of the sources nor their time counts: the name of the folder of the code tells them apart."""
    assert not _from(tmp_path / "one", monkeypatch).cache_hits
    assert _from(tmp_path / "another", monkeypatch).cache_hits


def test_compiling_that_takes_long_is_said_once(tmp_path, monkeypatch, caplog):
    """In the log, where it can be silenced; and not when the code comes from disk."""
    monkeypatch.setattr(notices.LOGGER, "disabled", False)  # as the check of import rules leaves all loggers
    monkeypatch.setattr(notices, "PATIENCE", 0.0)
    monkeypatch.setattr(notices.COMPILING, "ended", -1e9)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _from(tmp_path / name / "first", monkeypatch)
    (record,) = caplog.records
    assert record.name == "pliant" and record.levelname == "WARNING" and "compiles" in record.message
    monkeypatch.setattr(notices.COMPILING, "ended", -1e9)
    _from(tmp_path / "one" / "second", monkeypatch)
    assert len(caplog.records) == 1


def test_kept_code_is_loaded_before_it_is_called_and_is_machine_code_alone(tmp_path):
    first = kernel_in(tmp_path, _total)
    first.load_kept()  # nothing there, and nothing compiled
    assert not first.overloads
    assert first(np.arange(3.0)) == 12.0
    (result,) = first.overloads.values()
    kept = result.library._get_module_for_linking()
    assert all(len(list(function.blocks)) == 1 for function in kept.functions)
    second = kernel_in(tmp_path, _total)
    second.load_kept()
    assert len(second.overloads) == 1 and sum(second.stats.cache_hits.values()) == 1
    assert second(np.arange(3.0)) == 12.0 and not second.stats.cache_misses
