"""A formula as text, read without running code: arithmetic, named functions, names and numbers, nothing else."""

import ast
import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.checks import shown
from pliant.errors import SceneError
from pliant.symbolic.expression import FUNCTIONS

LONGEST, DEEPEST = 1000, 60
"""How many letters a formula may have, and how deep it may be nested."""

OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
CALLS = {name: getattr(np, name) for name in FUNCTIONS} | {
    "abs": np.absolute,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "where": np.where,
}
"""Functions that a formula may call, with one argument, with two, or `where(condition, a, b)`."""

RULE = f"allowed: numbers, names, + - * / **, < <= > >= in where(condition, a, b), and {', '.join(sorted(CALLS))}"


def formula(text: str) -> Callable[..., Any]:
    """The function that a text says, such as "mu / 2 * (I1 - 3 - 2 * log(J))"; its arguments are the names in it."""
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        raise SceneError(f"a formula is a text of at most {LONGEST} letters, got {shown(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "it is nested too deep"
        raise SceneError(f"the formula {shown(text)} cannot be read: {reason}") from None
    names = _check(tree, text, 0)

    def function(**values: Any) -> Any:
        try:
            return _value(tree, values)
        except (ZeroDivisionError, OverflowError) as error:
            raise SceneError(f"the formula {shown(text)} has no value: {error}") from None

    kind = inspect.Parameter.KEYWORD_ONLY
    function.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in sorted(names)])
    function.__name__ = shown(text)
    return function


def _check(tree: ast.expr, text: str, depth: int) -> set[str]:
    """The names in a formula; SceneError for all that is not allowed in one."""
    parts: list[ast.expr]
    match tree:
        case _ if depth > DEEPEST:
            raise SceneError(f"the formula {shown(text)} is nested more than {DEEPEST} deep")
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool) and abs(value) < 1e300:
            return set()
        case ast.Name(id=name):
            return {name}
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATIONS:
            parts = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
            parts = [left, right]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATIONS:
            parts = [left, right]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in CALLS and len(args) == _count(name):
            parts = args
        case _:
            said = ast.get_source_segment(text.strip(), tree) or text
            raise SceneError(f"{shown(said)} has no place in a formula; {RULE}")
    return set().union(*(_check(part, text, depth + 1) for part in parts))


def _count(name: str) -> int:
    """How many arguments a function takes."""
    return {"where": 3, "maximum": 2, "minimum": 2}.get(name, 1)


def _value(tree: ast.expr, values: dict[str, Any]) -> Any:
    match tree:
        case ast.Constant(value=value):
            return float(value)
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATIONS[type(op)](_value(operand, values))
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATIONS[type(op)](_value(left, values), _value(right, values))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return OPERATIONS[type(op)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            return CALLS[name](*(_value(argument, values) for argument in args))
    raise AssertionError("checked before")
