"""The kinds of elements: how many nodes and points each has. A law sees a point; only gather and scatter see nodes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """name: in words, for messages. nodes: of an element. points: at which its law is evaluated and plastic strain
    kept; springs have none. row_form: whether the dual family has rows for it. stretches: what
    the mixed solver's unknowns of it are like: those of "tets" of four nodes, of "points" of others, of "sheets"; none
    where it keeps its own energy. on_bodies: whether its triples are those of rigid bodies, two each, not of nodes."""

    name: str
    nodes: int
    points: int
    row_form: bool
    stretches: str = ""
    on_bodies: bool = False

    @property
    def pairs(self) -> int:
        """Blocks of the stiffness of an element: pairs (i, j), j <= i, of its nodes."""
        return self.nodes * (self.nodes + 1) // 2


TET4 = Kind("tets of four nodes", 4, 1, True, "tets")
TET10 = Kind("tets of ten nodes", 10, 4, False, "points")
SPRING = Kind("springs", 2, 0, True)
TRI3 = Kind("triangles of sheets", 3, 1, False, "sheets")
FIBRE = Kind("fibres of sheets", 3, 0, False)
BENDING = Kind("folds between triangles of sheets", 6, 1, False)
ROD = Kind("segments of rods", 4, 0, False, on_bodies=True)
