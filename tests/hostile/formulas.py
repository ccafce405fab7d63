"""Energies as texts: good laws, sums of one with what the grammar of formulas can say, and texts of all kinds."""

from hypothesis import strategies as st

from mutations import bytes_mutated
from pliant.symbolic.formula import CALLS

GOOD = (
    "mu / 2 * (I1 / J ** (2 / 3) - 3) + k / 2 * (J - 1) ** 2",
    "mu / 2 * (I1 - 3 - 2 * log(J)) + k / 2 * log(J) ** 2",
    "mu * ((s1 - 1) ** 2 + (s2 - 1) ** 2 + (s3 - 1) ** 2) + k / 2 * (s1 + s2 + s3 - 3) ** 2",
    "mu / 2 * (I2 / J ** (4 / 3) - 3) + where(J < 1, k, 2 * k) / 2 * (J - 1) ** 2",
)
PARAMETERS = {"mu": 1e5, "k": 1e6}
ATOMS = (
    "I1",
    "I2",
    "J",
    "s1",
    "s2",
    "s3",
    "mu",
    "k",
    "0",
    "1",
    "3",
    "0.5",
    "1e-300",
    "1e299",
    "1e400",
    "nan",
    "x" * 99,
)
OPERATORS = ("+", "-", "*", "/", "**", "<", ">=")
ODD = (
    "",
    " ",
    "\0",
    "J.real",
    "J[0]",
    "lambda: 1",
    "__import__('os')",
    "exp(x=J)",
    "f'{J}'",
    "J if J else 1",
    "J == 1",
)
ODD += ("(" * 200 + "J" + ")" * 200, "J" + "+J" * 600, "-" * 300 + "J", "J\n+1", "\u212b", "J:=1", "*J", "1_0", "0x1p3")


def expressions():
    """What the grammar can say, also where it makes no sense."""
    calls = sorted(CALLS)

    def wider(part):
        sums = st.tuples(part, st.sampled_from(OPERATORS), part).map(" ".join).map("({})".format)
        called = st.tuples(st.sampled_from(calls), st.lists(part, min_size=1, max_size=3))
        return sums | called.map(lambda own: f"{own[0]}({', '.join(own[1])})") | part.map("-{}".format)

    return st.recursive(st.sampled_from(ATOMS), wider, max_leaves=12)


def energies():
    """A text that may be an energy density."""
    good = st.sampled_from(GOOD)
    more = st.tuples(good, st.sampled_from(("+", "*", "-")), expressions()).map(" ".join)
    wild = bytes_mutated([text.encode() for text in GOOD]).map(lambda text: text.decode("latin-1"))
    return st.one_of(good, more, more, expressions(), wild, st.sampled_from(ODD))
