"""Files of numbers: .npy, and .csv with commas between the numbers of a line."""

import warnings
from pathlib import Path
from tokenize import TokenError

import numpy as np

from pliant.checks import file_path
from pliant.errors import SceneError

NUMBER_SUFFIXES = (".npy", ".csv")


def read_numbers(path: str | Path) -> np.ndarray:
    """The array in a file of numbers; a file is data, so .npy files of Python objects are refused."""
    path = file_path(path)
    suffix = path.suffix.lower()
    if suffix not in NUMBER_SUFFIXES:
        raise SceneError(f"{path}: a file of numbers must be one of {', '.join(NUMBER_SUFFIXES)}, got {suffix!r}")
    try:
        if suffix == ".csv":
            with path.open(encoding="utf-8") as lines, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a file without numbers: it gives an empty array
                return np.loadtxt(lines, delimiter=",", ndmin=2, dtype=np.float64)
        # mapped first: a file that promises more numbers than it holds is an error and takes no memory
        numbers = np.lib.format.open_memmap(path, mode="r")
        if not np.issubdtype(numbers.dtype, np.number) or np.issubdtype(numbers.dtype, np.complexfloating):
            raise ValueError(f"it holds {numbers.dtype}")
        return np.array(numbers, dtype=np.float64)
    except OSError as error:
        raise SceneError(f"{path}: cannot read the file of numbers: {error.strerror or error}") from None
    except (ValueError, ArithmeticError, EOFError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise SceneError(f"{path}: this is not a file of numbers: {error}") from None
    except TokenError as error:
        raise SceneError(f"{path}: this is not a file of numbers: {error}") from None
