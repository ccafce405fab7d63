"""From an energy density in the principal stretches to a Python module with its value and derivatives.

The module's text depends on the formula alone, so the same law has the same file, and the same compiled code, in every
process. A branch of np.where that is not taken may be computed all the same; compiled code ignores what comes of it.
"""

import importlib.util
import math
import os
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from pliant.symbolic.expression import BUILDERS, Expression, Node, differentiate, is_number, number, ordered, symbol

STRETCHES = (symbol("s1"), symbol("s2"), symbol("s3"))
# pairs of stretches in the order of the second derivatives
PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
# longest text of an expression that is written in place; longer ones get a line of their own
LONGEST = 64
# largest whole exponent that is written as products
MOST_FACTORS = 32
HEADER = '''"""An energy density of principal stretches s and parameters p, with its derivatives; written by pliant."""

import math

from pliant.jit import formula
'''
# sign and rank of the operators; an operand of lower rank is put in parentheses
OPERATORS = {
    "less": ("<", 1),
    "less_equal": ("<=", 1),
    "add": ("+", 2),
    "subtract": ("-", 2),
    "multiply": ("*", 3),
    "divide": ("/", 3),
}
SELECT, SIGN, ATOM = 0, 4, 5
# functions that Python's math module calls otherwise than NumPy
MATH_NAMES = {"absolute": "fabs", "arctan": "atan", "power": "pow"}


def derivatives(energy: Expression) -> tuple[list[Expression], list[Expression]]:
    """First derivatives by s1, s2, s3, and second ones in the order 11, 22, 33, 23, 13, 12."""
    first = [differentiate(energy, stretch) for stretch in STRETCHES]
    return first, [differentiate(first[i], STRETCHES[j]) for i, j in PAIRS]


def emit_module(energy: Expression, parameters: Sequence[Expression] = ()) -> str:
    """Text of a module with psi(s, p), stress(s, p) and dstress(s, p); p holds the parameters in the given order."""
    first, second = derivatives(energy)
    results = {"psi": [energy], "stress": first, "dstress": second}
    return "\n\n".join([HEADER, *(_function_text(name, roots, parameters) for name, roots in results.items())])


def load(source: str, key: str, folder: Path) -> ModuleType:
    """Write the module `pliant_law_KEY` into the folder and import it; once per process."""
    name = f"pliant_law_{key}"
    if name in sys.modules:
        return sys.modules[name]
    path = Path(folder) / f"{name}.py"
    _write(path, source)
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return sys.modules.setdefault(name, module)


def _write(path: Path, text: str) -> None:
    """Write the file under another name and rename it, unless it is there already."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _function_text(name: str, results: Sequence[Expression], parameters: Sequence[Expression]) -> str:
    """A function of s and p that returns the results: what is used twice, or long, gets a line of its own."""
    roots = _with_few_powers(results)
    nodes = ordered(roots)
    uses = Counter(operand for node in nodes for operand in node.operands) + Counter(roots)
    texts, lines = _arguments(nodes, parameters)
    for node in nodes:
        if node in texts:
            continue
        text, rank = _text(node, texts)
        if node.operands and (uses[node] > 1 or len(text) > LONGEST):
            local = f"t{len(lines)}"
            lines.append(f"{local} = {text}")
            text, rank = local, ATOM
        texts[node] = text, rank
    values = ", ".join(texts[root][0] for root in roots)
    lines.append(f"return {values}" if len(roots) == 1 else f"return ({values})")
    return f"@formula\ndef {name}(s, p):\n" + "".join(f"    {line}\n" for line in lines)


def _arguments(nodes: Sequence[Node], parameters: Sequence[Expression]) -> tuple[dict[Node, tuple], list[str]]:
    """Local names of the symbols in use, and the lines that fetch them."""
    places = {stretch: (stretch.label, f"s[{i}]") for i, stretch in enumerate(STRETCHES)}
    places |= {parameter: (f"p{i}", f"p[{i}]") for i, parameter in enumerate(parameters)}
    used = [symbol for symbol in places if symbol in set(nodes)]
    return {symbol: (places[symbol][0], ATOM) for symbol in used}, [" = ".join(places[symbol]) for symbol in used]


def _text(node: Node, texts: dict[Node, tuple[str, int]]) -> tuple[str, int]:
    """The node in Python, from the texts of its operands, and its rank."""
    operands = [texts[operand] for operand in node.operands]
    if is_number(node):
        return _number_text(node.label)
    if node.operation in OPERATORS:
        sign, rank = OPERATORS[node.operation]
        return f"{_at_least(operands[0], rank)} {sign} {_at_least(operands[1], rank + 1)}", rank
    if node.operation == "negative":
        return f"-{_at_least(operands[0], SIGN)}", SIGN
    if node.operation == "where":
        condition, a, b = (_at_least(operand, SELECT + 1) for operand in operands)
        return f"{a} if {condition} else {b}", SELECT
    name = MATH_NAMES.get(node.operation, node.operation)
    return f"math.{name}({', '.join(text for text, _ in operands)})", ATOM


def _number_text(value: float) -> tuple[str, int]:
    text = repr(value) if math.isfinite(value) else f"{'-' if value < 0 else ''}math.{abs(value)!r}"
    return text, SIGN if text.startswith("-") else ATOM


def _at_least(operand: tuple[str, int], rank: int) -> str:
    text, own = operand
    return text if own >= rank else f"({text})"


def _with_few_powers(roots: Sequence[Expression]) -> list[Expression]:
    """The same expressions with products in place of powers by whole numbers.

    Powers of one base whose exponents differ by whole numbers are products of the lowest of them and of the base.
    """
    nodes = ordered(roots)
    lowest = _lowest_exponents(nodes)
    lowered: dict[Node, Node] = {}
    for node in nodes:
        operands = [lowered[operand] for operand in node.operands]
        if node.operation == "power" and is_number(node.operands[1]):
            least = lowest[_family(node)]
            factors = _product(operands[0], round(node.operands[1].label - least))
            lowered[node] = operands[0] ** least * factors if least else factors
        else:
            lowered[node] = BUILDERS[node.operation](*operands) if operands else node
    return [lowered[root] for root in roots]


def _lowest_exponents(nodes: Sequence[Node]) -> dict[tuple, float]:
    """Of each family of powers the lowest exponent, 0 for whole ones."""
    lowest: dict[tuple, float] = {}
    for node in nodes:
        if node.operation == "power" and is_number(node.operands[1]):
            exponent, family = node.operands[1].label, _family(node)
            lowest[family] = min(lowest.get(family, exponent), exponent) if family[1] else 0.0
    return lowest


def _family(power: Node) -> tuple[Node, float, bool]:
    """Base, fraction and sign of the exponent; an exponent far from zero is a family of its own.

    Signs are kept apart: a negative power that np.where guards at base 0 must not spoil a positive one there.
    """
    base, exponent = power.operands
    if not abs(exponent.label) <= MOST_FACTORS:
        return base, exponent.label, True
    return base, round(exponent.label % 1.0, 12) % 1.0, exponent.label > 0


def _product(base: Expression, count: int) -> Expression:
    """base ** count by repeated squaring."""
    if count < 0:
        return number(1.0) / _product(base, -count)
    if count < 2:
        return base if count else number(1.0)
    half = _product(base, count // 2)
    return half * half * base if count % 2 else half * half
