"""Formulas as graphs, made by calling a Python function with symbols, and their exact derivatives.

Operations bear NumPy's names. Nodes are interned by a digest of their structure: equal subexpressions are one object,
and everything that depends on an order of nodes comes out the same in every process.
"""

import hashlib
import weakref
from collections.abc import Callable, Iterable, Sequence
from numbers import Real

import numpy as np

from pliant.errors import SceneError

_NODES: weakref.WeakValueDictionary[bytes, "Node"] = weakref.WeakValueDictionary()

# derivative of each function of one variable, from its argument x and its value y
FUNCTIONS: dict[str, Callable[["Expression", "Expression"], "Expression"]] = {
    "absolute": lambda x, y: select(less(x, number(0.0)), -1.0, 1.0),
    "arctan": lambda x, y: 1.0 / (1.0 + x * x),
    "cos": lambda x, y: -np.sin(x),
    "cosh": lambda x, y: np.sinh(x),
    "exp": lambda x, y: y,
    "expm1": lambda x, y: np.exp(x),
    "log": lambda x, y: 1.0 / x,
    "log1p": lambda x, y: 1.0 / (1.0 + x),
    "sin": lambda x, y: np.cos(x),
    "sinh": lambda x, y: np.cosh(x),
    "sqrt": lambda x, y: 0.5 / y,
    "tan": lambda x, y: 1.0 + y * y,
    "tanh": lambda x, y: 1.0 - y * y,
}
# derivative of each arithmetic operation y = a (op) b, from those of its operands
ARITHMETIC: dict[str, Callable[..., "Expression"]] = {
    "add": lambda y, a, b, da, db: da + db,
    "subtract": lambda y, a, b, da, db: da - db,
    "multiply": lambda y, a, b, da, db: da * b + a * db,
    "divide": lambda y, a, b, da, db: (da - y * db) / b,
    "power": lambda y, a, b, da, db: b * a ** (b - 1.0) * da + y * np.log(a) * db,
}


class Node:
    """A symbol, a number, or an operation on other nodes; make them with `symbol`, operators and NumPy's functions.

    `label` is the name of a symbol or the value of a number.
    """

    __slots__ = ("__weakref__", "digest", "label", "operands", "operation")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{self.operation}>" if self.label is None else f"<{self.operation} {self.label}>"

    def __bool__(self) -> bool:
        raise SceneError(
            "an `if` on a stretch or a parameter cannot be traced (nor can and, or, max, min, a < x < b): "
            "use np.where(condition, a, b), np.maximum or np.minimum"
        )

    def __float__(self) -> float:
        raise SceneError(
            "a stretch or a parameter has no value while the energy is traced: "
            "use NumPy's functions (np.log, np.exp, np.sqrt, ...) in place of math's"
        )

    def __eq__(self, other) -> bool:
        raise SceneError("== and != cannot be traced: use <, <=, > or >= in np.where")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if ufunc.__name__ not in BUILDERS or method != "__call__" or options:
            raise _unknown_function(ufunc.__name__)
        return BUILDERS[ufunc.__name__](*(as_expression(value) for value in inputs))

    def __array_function__(self, function, types, arguments, options):
        if function is not np.where or len(arguments) != 3:
            raise _unknown_function(function.__name__)
        return select(*arguments)


class Condition(Node):
    """A comparison, for np.where only."""

    __slots__ = ()


def _binary(operation: str) -> tuple[Callable, Callable]:
    """Methods for self (op) other and other (op) self."""

    def straight(self, other):
        return BUILDERS[operation](self, as_expression(other))

    def reflected(self, other):
        return BUILDERS[operation](as_expression(other), self)

    return straight, reflected


class Expression(Node):
    """A formula in symbols that can be computed with like a number."""

    __slots__ = ()

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __truediv__, __rtruediv__ = _binary("divide")
    __pow__, __rpow__ = _binary("power")
    __lt__, __gt__ = _binary("less")
    __le__, __ge__ = _binary("less_equal")

    def __neg__(self) -> "Expression":
        return negative(self)

    def __pos__(self) -> "Expression":
        return self

    def __abs__(self) -> "Expression":
        return _operation("absolute", self)


def symbol(name: str) -> Expression:
    """The variable of that name."""
    return _node("symbol", (), name)


def number(value: float) -> Expression:
    """A constant."""
    return _node("number", (), float(value))


def as_expression(value) -> Expression:
    """The expression itself, or a number as one."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, Condition):
        raise SceneError("a comparison of stretches can only be used in np.where(condition, a, b)")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, Real):
        raise SceneError(f"an energy is made of single numbers (write sums out), got {type(value).__name__} {value!r}")
    return number(value)


def is_number(node: Node, value: float | None = None) -> bool:
    """Whether the node is a constant (of that value)."""
    return node.operation == "number" and (value is None or node.label == value)


def _node(operation: str, operands: tuple[Node, ...] = (), label: str | float | None = None):
    parts = [repr((operation, label)).encode(), *(operand.digest for operand in operands)]
    digest = hashlib.blake2b(b"".join(parts), digest_size=16).digest()
    node = _NODES.get(digest)
    if node is None:
        node = object.__new__(Condition if operation in ("less", "less_equal") else Expression)
        node.operation, node.operands, node.label, node.digest = operation, operands, label, digest
        _NODES[digest] = node
    return node


def _operation(operation: str, *operands: Node):
    """The operation on these operands; a number where all of them are (comparisons stay)."""
    if all(is_number(operand) for operand in operands) and not operation.startswith("less"):
        with np.errstate(all="ignore"):
            return number(getattr(np, operation)(*(operand.label for operand in operands)))
    return _node(operation, operands)


def _sorted(a: Expression, b: Expression) -> list[Expression]:
    """Operands of an operation that commutes: numbers first, then in an order that is the same in every process."""
    return sorted((a, b), key=lambda operand: (not is_number(operand), operand.digest))


def add(a: Expression, b: Expression) -> Expression:
    """a + b"""
    a, b = _sorted(a, b)
    if is_number(a, 0.0):
        return b
    if a is b:
        return multiply(number(2.0), a)
    if b.operation == "negative":
        return subtract(a, b.operands[0])
    return subtract(b, a.operands[0]) if a.operation == "negative" else _operation("add", a, b)


def subtract(a: Expression, b: Expression) -> Expression:
    """a - b"""
    if is_number(b, 0.0) or a is b:
        return a if a is not b else number(0.0)
    if is_number(a, 0.0):
        return negative(b)
    return add(a, b.operands[0]) if b.operation == "negative" else _operation("subtract", a, b)


def multiply(a: Expression, b: Expression) -> Expression:
    """a b"""
    a, b = _sorted(a, b)
    if is_number(a, 0.0) or is_number(b, 0.0):
        return number(0.0)
    if is_number(a, 1.0) or is_number(a, -1.0):
        return b if a.label > 0 else negative(b)
    if is_number(a) and b.operation == "multiply" and is_number(b.operands[0]):
        return multiply(number(a.label * b.operands[0].label), b.operands[1])
    for one, other in ((a, b), (b, a)):
        if one.operation == "negative":
            return negative(multiply(one.operands[0], other))
    return _operation("multiply", a, b)


def divide(a: Expression, b: Expression) -> Expression:
    """a / b"""
    if is_number(b, 1.0) or (is_number(a, 0.0) and not is_number(b)):
        return a
    return negative(divide(a.operands[0], b)) if a.operation == "negative" else _operation("divide", a, b)


def power(a: Expression, b: Expression) -> Expression:
    """a to the power b"""
    if is_number(b, 0.0) or is_number(b, 1.0):
        return a if b.label else number(1.0)
    if is_number(b, 2.0):
        return multiply(a, a)
    return _operation("sqrt", a) if is_number(b, 0.5) else _operation("power", a, b)


def negative(a: Expression) -> Expression:
    """-a"""
    return a.operands[0] if a.operation == "negative" else _operation("negative", a)


def less(a: Expression, b: Expression) -> Condition:
    """a < b"""
    return _operation("less", a, b)


def select(condition, a, b) -> Expression:
    """a where the condition holds, else b."""
    if isinstance(condition, (bool, np.bool_)):
        return as_expression(a if condition else b)
    if not isinstance(condition, Condition):
        raise SceneError(f"np.where needs a comparison (<, <=, >, >=) as its condition, got {condition!r}")
    a, b = as_expression(a), as_expression(b)
    return a if a is b else _node("where", (condition, a, b))


# what can be called on expressions, by the names of NumPy's functions
BUILDERS: dict[str, Callable] = {
    **{name: lambda x, name=name: _operation(name, x) for name in FUNCTIONS},
    **{build.__name__: build for build in (add, subtract, multiply, divide, power, negative, less)},
    "less_equal": lambda a, b: _operation("less_equal", a, b),
    "greater": lambda a, b: less(b, a),
    "greater_equal": lambda a, b: b <= a,
    "maximum": lambda a, b: select(b <= a, a, b),
    "minimum": lambda a, b: select(a <= b, a, b),
    "square": lambda x: x * x,
    "where": select,
}


def _unknown_function(name: str) -> SceneError:
    return SceneError(f"np.{name} cannot be traced (or not with these arguments); known are {', '.join(BUILDERS)}")


def ordered(roots: Iterable[Node]) -> list[Node]:
    """All nodes below the roots, each once and after its operands."""
    done: dict[Node, None] = {}
    stack = list(roots)[::-1]
    while stack:
        node = stack[-1]
        missing = [operand for operand in node.operands if operand not in done]
        if missing and node not in done:
            stack.extend(missing[::-1])
        else:
            done.setdefault(stack.pop())
    return list(done)


def differentiate(expression: Expression, variable: Expression) -> Expression:
    """The exact derivative by a symbol; at a kink of abs, maximum, minimum or where that of the branch taken there."""
    slopes: dict[Node, Expression] = {}
    for node in ordered([expression]):
        known = [slopes[operand] for operand in node.operands]
        slopes[node] = number(node is variable) if not known else _slope(node, known)
    return slopes[expression]


def _slope(node: Node, slopes: Sequence[Expression]) -> Expression:
    """Derivative of an operation from those of its operands."""
    if isinstance(node, Condition) or all(is_number(slope, 0.0) for slope in slopes):
        return number(0.0)
    if node.operation == "negative":
        return -slopes[0]
    if node.operation == "where":
        return select(node.operands[0], *slopes[1:])
    if node.operation in FUNCTIONS:
        return FUNCTIONS[node.operation](node.operands[0], node) * slopes[0]
    return ARITHMETIC[node.operation](node, *node.operands, *slopes)
