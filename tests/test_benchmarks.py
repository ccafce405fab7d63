"""Benchmarks run, and say what they could not run; no timing is asserted."""

import json
import math
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.benchmarks import _isolated, mixed, peers
from pliant.benchmarks._cantilever_scaling import fit
from pliant.benchmarks.order import draw
from pliant.cli.group import main


def bench(*arguments, code=0):
    """Run `pliant bench`; returns its output and its error output."""
    result = CliRunner().invoke(main, ["bench", *arguments])
    assert result.exit_code == code, result.output + result.stderr + repr(result.exception)
    return result.stdout, result.stderr


def test_the_cantilever_gives_every_field():
    result = json.loads(bench("cantilever", "--quick", "--json")[0])
    assert result["name"] == "cantilever" and result["cores"] >= 1
    labels = [case["label"] for case in result["cases"]]
    assert labels[:2] == ["corotated, 144 tets", "neohookean, 144 tets"] and len(set(labels)) == 7
    fields = {"tets", "nodes", "ms_per_step", "max_ms_per_step", "newton_iterations", "pcg_iterations", "residual"}
    for case in result["cases"]:
        assert fields | {"linear", "tip_m", "error"} <= set(case)
        assert case["tip_m"] < 0 and case["error"] < 1e-3
    assert result["cases"][0]["tip_at_rest_m"] < -0.1 and result["cases"][0]["time_error"] > 0
    assert {case["linear"] for case in result["cases"]} == {"cholesky", "pcg", "jacobi", "matrix-free"}


QUICK = ("cloth", "contact", "humanoid", "mixed", "pile", "rods")
LONG = ("brick", "grid", "many", "mesh", "stiff", "surfaces")
LONGER = tuple(pytest.param(name, marks=pytest.mark.slow) for name in LONG)


@pytest.mark.parametrize("name", QUICK + LONGER)
def test_every_benchmark_runs(name):
    """All its cases, with numbers that are numbers; every step that counts its failures has none but those of bounded
    cost, which end before they have converged."""
    result = json.loads(bench(name, "--quick", "--json")[0])
    assert result["name"] == name and result["cases"]
    for case in result["cases"]:
        numbers = [value for value in case.values() if isinstance(value, (int, float))]
        assert numbers or "unavailable" in case
        assert all(math.isfinite(value) for value in numbers), case
        assert "Bounded" in case["label"] or not case.get("unconverged"), case


def test_the_rows_of_the_mixed_solvers_paper():
    """Nodes and elements of its table 1: all, but for 36 tets of the beam and a spring of the rods; springs are edges.
    Its times are of three stages, printed beside ours."""
    for row in mixed.ROWS:
        mesh = mixed.SHAPES[row.shape]()
        if row.law == "springs":
            elements = len(mesh.edges)
        else:
            elements = len(mesh.tets if isinstance(mesh, pl.meshes.TetMesh) else mesh.triangles)
        off = {"beam": -36, "rods bunny": 1}.get(row.shape, 0)
        assert (len(mesh.points), elements) == (row.counts[0], row.counts[1] + off)
    case = mixed.measured(next(row for row in mixed.ROWS if row.name == "Rods Bunny"), 1)
    assert (case["nodes"], case["paper_nodes"], case["elements"], case["paper_elements"]) == (500, 500, 2435, 2434)
    stages = [case[f"paper_{name}_ms"] for name in mixed.STAGES]
    assert stages == [0.95, 1.19, 0.44] and sum(stages) == case["paper_ms"]


def test_options_of_another_benchmark_are_refused():
    assert "the benchmark grid has no option --scaling" in bench("grid", "--scaling", code=2)[1]
    assert "the benchmark brick has no option --peers" in bench("brick", "--no-peers", code=2)[1]


def test_an_engine_that_is_missing_or_fails_is_named(monkeypatch):
    missing = peers.Peer("nothing", "no_such_module", "no_such_file", {"any": (True, True)})
    failing = peers.Peer("failing", "json", "no_such_file", {"any": (True, True)})
    monkeypatch.setattr(peers, "PEERS", (missing, failing))
    cases = peers.measure_peers((6, 2, 2), 2, None)
    assert cases[0] == {"label": "nothing, 144 tets", "unavailable": "not installed"}
    assert cases[1]["label"] == "failing, any, 144 tets" and "no_such_file" in cases[1]["unavailable"]


def test_a_call_in_another_process():
    assert _isolated.call("json", "dumps", obj=[1, 2]) == "[1, 2]"
    with pytest.raises(_isolated.Failed, match="no attribute 'nothing'"):
        _isolated.call("json", "nothing")
    with pytest.raises(_isolated.Failed, match=r"took more than 0.01 s"):
        _isolated.call("json", "dumps", limit=0.01, obj=1)


def test_the_exponent_of_a_power_law():
    cases = [{"tets": n, "ms_per_step": 2 * n**1.25} for n in (10, 100, 1000)]
    assert fit([*cases, {"unavailable": "crashed"}]) == {"exponent": pytest.approx(1.25)}
    assert "unavailable" in fit(cases[:1])


def test_ten_node_tets_are_nearer_the_answer(tmp_path):
    """Two cells high: linear tets miss more than a third of the deflection, ten-node tets a few parts in a hundred."""
    result = json.loads(bench("order", "--quick", "--json")[0])
    errors = {
        (case["nodes_per_tet"], case["cells_high"], case["poisson"]): case["tip_error"] for case in result["cases"]
    }
    assert len(errors) == 8 and errors[4, 2, 0.3] > 0.3 and errors[10, 2, 0.3] < 0.02
    draw(result, tmp_path / "plot.svg")
    assert ElementTree.parse(tmp_path / "plot.svg").getroot().tag.endswith("svg")
