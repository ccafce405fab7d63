"""Texts of small scene files for the tests, and what reading a bad one says."""

import pytest

import pliant as pl
from pliant.scene_file.files import read

MATERIAL = '[materials.rubber]\nlaw = "corotated"\nyoung = 1e6\npoisson = 0.4\ndensity = 1000\n'
SOFT = MATERIAL + '[[soft]]\nname = "beam"\nmesh = { box = [1, 1, 1], cells = 1 }\nmaterial = "rubber"\n'
BALL = '[[rigid]]\nname = "ball"\nshape = { sphere = 1 }\nmass = 1\n'
JOINT = BALL + '[[joint]]\ntype = "ball"\na = "ball"\nb = "world"\nat = [0, 0, 0]\n'


def put(folder, text, name="scene.toml"):
    """Write a scene file."""
    path = folder / name
    path.write_text("format = 1\n" + text if "format" not in text else text)
    return path


def errors(path):
    """The lines of the error that reading the file raises, without the name of the file, which each must start with."""
    with pytest.raises(pl.SceneError) as caught:
        read(path)
    lines = str(caught.value).split("\n")
    assert all(line.startswith(f"{path}: ") for line in lines)
    return [line.removeprefix(f"{path}: ") for line in lines]
