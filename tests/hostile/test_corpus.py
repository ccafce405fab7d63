"""Past failures, one by one: each ends well or in a PliantError, within its time and memory."""

import io
import os
import re
import struct
import zipfile
import zlib

import numpy as np
import pytest

import pliant as pl
from limits import limited
from pliant import scene_file

HEAD = "format = 1\n"
BALL = '[[rigid]]\nname = "ball"\nshape = { sphere = 1 }\nmass = 1\n'
BEAM = (
    '[materials.rubber]\nlaw = "corotated"\nyoung = 1e5\npoisson = 0.3\ndensity = 1000\n'
    '[[soft]]\nname = "beam"\nmaterial = "rubber"\nmesh = { box = [1, 1, 1], cells = 1 }\n'
)
JOINT = '[[joint]]\ntype = "ball"\na = "ball"\nb = "world"\nat = [0, 0, 0]\n'

SCENES = {
    "a selection of 25 kB of digits": BEAM + f'[[soft.pin]]\nnodes = "x < {"1" * 25_000}x"\n',
    "a selection of many comparisons": BEAM + f'[[soft.pin]]\nnodes = "{" and ".join(["x < 1"] * 4000)}"\n',
    "a selection of many alternatives": BEAM + f'[[soft.pin]]\nnodes = "{" or ".join(["x < 1"] * 4000)}"\n',
    "a selection of blanks": BEAM + f'[[soft.pin]]\nnodes = "{" " * 25_000}"\n',
    "thousands of misspelt names": BALL + "".join(JOINT.replace('"ball"\nb', f'"bal{k}"\nb') for k in range(2000)),
    "thousands of bodies and misspelt names": "".join(BALL.replace("ball", f"ball{k}") for k in range(500))
    + "".join(JOINT.replace('"ball"\nb', f'"bal{k}"\nb') for k in range(1000)),
    "a misspelt name of 87 kB": BALL + JOINT.replace('a = "ball"', f'a = "{"b" * 87_000}"'),
    "thousands of unknown keys": BALL + "".join(f"radus{k} = 1\n" for k in range(5000)),
    "thousands of pins with unknown keys": BEAM + '[[soft.pin]]\nnodes = "all"\nvelocty = 1\n' * 3000,
    "an array in arrays": f"gravity = {'[' * 5000}{']' * 5000}\n",
    "a table in tables": "gravity = " + "{ a = " * 150 + "1" + " }" * 150 + "\n",
    "a dotted key": f"{'.'.join(['a'] * 20_000)} = 1\n",
    "dotted keys": "".join(f"{'.'.join(['a'] * 200)}.b{k} = 1\n" for k in range(500)),
    "a number of thousands of digits": f"gravity = [0, 0, {'9' * 4000}]\n",
    "a number of millions of digits": f"gravity = [0, 0, {'9' * 1_000_000}]\n",
    "a tiny sphere": BALL.replace("sphere = 1", "sphere = 1e-200"),
    "a small sphere": BALL.replace("sphere = 1", "sphere = 1e-90"),
    "a huge sphere": BALL.replace("sphere = 1", "sphere = 1e200"),
    "a large sphere": BALL.replace("sphere = 1", "sphere = 1e90"),
    "a heavy ball": BALL.replace("mass = 1", "density = 1e308"),
    "an infinite mass": BALL.replace("mass = 1", "mass = inf"),
    "a tiny beam": BEAM.replace("[1, 1, 1]", "[1e-99, 1e-99, 1e-99]"),
    "a dense beam": BEAM.replace("density = 1000", "density = 1e99"),
    "millions of cells": BEAM.replace("cells = 1 ", "cells = 300 "),
    "cells without end": BEAM.replace("cells = 1 ", f"cells = {10**30} "),
    "a mesh file of a long name": BEAM.replace("box = [1, 1, 1], cells = 1", f'file = "{"a" * 5000}.msh"'),
    "a mesh file of many folders": BEAM.replace("box = [1, 1, 1], cells = 1", f'file = "{"a/" * 3000}a.msh"'),
    "a link to itself": BEAM.replace("box = [1, 1, 1], cells = 1", 'file = "loop.msh"'),
    "a material of springs in place": BEAM.replace(
        'material = "rubber"', 'material = { law = "springs", young = 1e5, poisson = 0.3, density = 1000 }'
    ),
    "thousands of welded nodes": BEAM.replace("cells = 1 ", "cells = 14 ")
    + '[[joint]]\ntype = "fixed"\na = "beam"\nb = "world"\nat = [0, 0, 0]\nnodes = "all"\n',
    "a beam that is lost in rounding": BEAM.replace('material = "', 'position = [0, 1e19, 0]\nmaterial = "'),
    "a ball that is lost in rounding": BALL + "position = [1e18, 0, 0]\n",
    "no bodies": "",
    "a distance of no length": BALL
    + '[[joint]]\ntype = "distance"\na = "ball"\nb = "world"\nat = [[0, 0, 0], [0, 0, 0]]\n',
    "a solver for other laws": '[run]\nsolver = "linear"\n' + BEAM,
    "more threads than there are": "[run]\nthreads = 1000\n" + BALL,
    "more steps than there are": "[run]\nseconds = 1e90\ndt = 1e-90\n" + BALL,
}
ADDRESSED = {
    "a material of springs in place": r"soft\[0\]\.material",
    "a beam that is lost in rounding": r"soft\[0\].*lost in rounding",
    "a ball that is lost in rounding": r"rigid\[0\].*lost in rounding",
    "no bodies": r"the scene has no bodies",
    "a distance of no length": r"joint\[0\]",
    "a solver for other laws": r"run\.solver",
    "more threads than there are": r"run\.threads",
    "a tiny sphere": r"rigid\[0\]\.shape\.sphere",
    "a heavy ball": r"rigid\[0\]\.density",
    "an infinite mass": r"rigid\[0\]\.mass",
    "millions of cells": r"soft\[0\]\.mesh",
}


@pytest.mark.parametrize("case", SCENES)
def test_scene_files(case, tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(HEAD + SCENES[case])
    os.symlink("loop.msh", tmp_path / "loop.msh")
    said = ""
    with limited():
        try:
            file = scene_file.read(path)
            with file.addressed():
                file.scene.simulate(dt=file.run.dt, solver=file.run.solver, **file.run.place).run(file.run.seconds)
        except pl.PliantError as error:
            said = str(error)
    assert len(said) < 50_000
    if case in ADDRESSED:
        assert re.search(rf"case\.toml: .*{ADDRESSED[case]}", said)


def text_of_msh(elements: str, nodes: str = "4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n") -> bytes:
    """A .msh file of version 2."""
    sections = {"MeshFormat": "2.2 0 8\n", "Nodes": nodes, "Elements": f"{elements}\n"}
    return "".join(f"${name}\n{text}$End{name}\n" for name, text in sections.items()).encode()


def msh_4(entities: str = "0 0 0 0", nodes: str = "0 0 0 0", elements: str = "0 0 0 0") -> bytes:
    """A .msh file of version 4.1."""
    sections = {"MeshFormat": "4.1 0 8", "Entities": entities, "Nodes": nodes, "Elements": elements}
    return "".join(f"${name}\n{text}\n$End{name}\n" for name, text in sections.items()).encode()


def ply(header: str, body: bytes = b"", kind: str = "ascii") -> bytes:
    """A .ply file."""
    return f"ply\nformat {kind} 1.0\n{header}\nend_header\n".encode() + body


def packed_vtu(blocks: int = 3, size: int = 2**28, content: bytes = b"") -> bytes:
    """A .vtu file whose points would unpack to a lot."""
    import base64

    piece = zlib.compress(content or bytes(2**24))
    header = struct.pack(f"<{3 + blocks}Q", blocks, size, size, *[len(piece)] * blocks)
    text = base64.b64encode(header).decode() + base64.b64encode(piece * blocks).decode()
    return (
        '<VTKFile type="UnstructuredGrid" byte_order="LittleEndian" header_type="UInt64" '
        'compressor="vtkZLibDataCompressor"><UnstructuredGrid><Piece><Points><DataArray type="Float64" '
        f'NumberOfComponents="3" format="binary">{text}</DataArray></Points></Piece></UnstructuredGrid></VTKFile>'
    ).encode()


XYZ = "element vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
FACE = "element face {}\nproperty list uchar int vertex_indices"
MESHES = {
    "tags before none.msh": text_of_msh("1000000000000\n1 4 -7 1 2 3 4"),
    "a negative count.msh": text_of_msh("-5\n1 4 0 1 2 3 4"),
    "negative nodes.msh": text_of_msh("1\n1 4 0 1 2 3 4", "-4\n"),
    "no nodes.msh": text_of_msh("1\n1 4 0 1 2 3 4", "0\n"),
    "many entities.msh": msh_4("1000000000000000 0 0 0\n"),
    "negative entities.msh": msh_4("1 0 0 0\n1 0 0 0 -3\n"),
    "many blocks.msh": msh_4(nodes="99999999999 4 1 4\n3 1 0 -4"),
    "unclosed sections.msh": b"$A\n" * 50_000,
    "many vertices.ply": ply(XYZ.format(10**15)),
    "many faces.ply": ply(XYZ.format(1) + FACE.format(10**15), b"0 0 0\n"),
    "a negative list.ply": ply(
        XYZ.format(1) + FACE.format(10**9).replace("uchar", "char"), b"\0" * 12 + b"\xff" * 99, "binary_little_endian"
    ),
    "empty lists.ply": ply(XYZ.format(1) + FACE.format(10**9), b"0 0 0\n" + b"0 " * 1000),
    "an element of nothing.ply": ply(f"element vertex {10**18}\n"),
    "many triangles.stl": b" " * 80 + b"\xff\xff\xff\xff" + b"\0" * 100,
    "text without end.stl": b"solid a\n" + b"vertex 0 0 0\n" * 1000,
    "a bomb.vtu": packed_vtu(),
    "a small lie.vtu": packed_vtu(1, 100),
    "entities.vtu": b'<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb">]><VTKFile>&b;</VTKFile>',
    "many components.vtu": packed_vtu(1, 24, bytes(24)).replace(b'Components="3"', b'Components="99999999999"'),
    "deep.vtu": b"<VTKFile>" + b"<a>" * 100_000,
    "many points.node": b"999999999999 3 0 0\n0 0 0 0\n",
    "many attributes.node": b"1 3 999999999999 0\n0 0 0 0\n",
    "many vertices.mesh": b"MeshVersionFormatted 2\nDimension 3\nVertices 999999999999\n0 0 0 0\n",
    "negative vertices.mesh": b"MeshVersionFormatted 2\nDimension 3\nVertices -4\n0 0 0 0\n",
    "a large dimension.mesh": b"MeshVersionFormatted 2\nDimension 999999999\nVertices 4\n0 0 0 0\n",
    "many groups.obj": b"".join(b"g %d\nv 0 0 0\n" % k for k in range(5000)),
    "a long word.msh": text_of_msh("1\n1 4 0 1 2 3 4", f"4\n1 0 0 {'0' * 10**6}\n" + "2 1 0 0\n" * 1000),
    "a long word.mesh": b"MeshVersionFormatted 2\nVertices 9\n" + b"0 " * 40_000 + b"0" * 10**6,
    "many groups.msh": text_of_msh("30000\n" + "".join(f"{k} 4 1 {k} 1 2 3 4\n" for k in range(1, 30001))),
    "groups of all.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\ng "
    + b" ".join(b"%d" % k for k in range(3000))
    + b"\nf 1 2 3" * 300,
    "a polygon.obj": b"v 0 0 0\n" * 3 + b"f" + b" 1 2 3" * 30_000,
}


@pytest.mark.parametrize("case", MESHES)
@pytest.mark.parametrize("repair", [False, True])
def test_mesh_files(case, repair, tmp_path):
    path = tmp_path / case
    path.write_bytes(MESHES[case])
    path.with_suffix(".ele").write_bytes(b"1 4 0\n0 0 1 2 3\n")
    with limited():
        try:
            pl.meshes.read(path, repair=repair)
        except pl.MeshError as error:
            assert case in str(error)
            return
    assert repair  # which makes something of tets that are all the same


def zipped(compression: int = zipfile.ZIP_STORED, **files: bytes) -> bytes:
    """A .npz file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as out:
        for name, content in files.items():
            out.writestr(f"{name}.npy", content)
    return file.getvalue()


def claimed(shape: tuple, content: bytes = b"", kind: str = "<f8") -> bytes:
    """An array that says it is of some shape."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue() + content


CHECKPOINTS = {
    "a bomb": zipped(zipfile.ZIP_DEFLATED, magic=claimed((2**25,), bytes(2**28))),
    "8 petabytes": zipped(magic=claimed((10**15,))),
    "more than there are numbers for": zipped(magic=claimed((10**30, 10**30))),
    "a negative shape": zipped(magic=claimed((-1,))),
    "texts of no length": zipped(magic=claimed((10**12,), b"", "<U0")),
    "objects": zipped(magic=claimed((1,), b"x" * 8, "|O")),
    "no array": zipped(magic=b"nothing"),
    "a format of its own": zipped(magic=b"\x93NUMPY\x09\x09"),
    "nothing": b"",
    "an empty zip": zipped(),
    "a header that is code": zipped(
        magic=b"\x93NUMPY\x01\x00\x20\x00" + b"__import__('os').getcwd()".ljust(31) + b"\n"
    ),
    "a header without end": zipped(magic=b"\x93NUMPY\x01\x00\x20\x00" + b"(" * 31 + b"\n"),
}


@pytest.mark.parametrize("case", CHECKPOINTS)
def test_checkpoints(case, tmp_path):
    path = tmp_path / "case.npz"
    path.write_bytes(CHECKPOINTS[case])
    with limited(), pytest.raises(pl.SceneError, match=r"case\.npz: "):
        pl.resume(path)
    assert not list(tmp_path.glob(".*"))
