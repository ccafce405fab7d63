"""One block of rows of a joint, on its way from the scene to the columns of all blocks."""

from dataclasses import dataclass, field

from pliant.scene.coordinates import Coordinate

NOTHING = (0.0, 0.0, 0.0)


@dataclass
class Block:
    """One block of rows of a joint, as rows.joints.JointBlocks describes it; which: numbers of its free
    coordinates. compliance None: the joint's own."""

    family: int
    a: tuple
    b: tuple
    more: list = field(default_factory=list)
    coordinate: tuple[int, int] = (0, 0)
    which: tuple[int, int] = (0, 0)
    ratio: tuple[float, float] = (0.0, 0.0)
    factor: tuple[float, float, float] = NOTHING
    rest: tuple[float, float, float] = NOTHING
    compliance: float | None = None
    damping: float = 0.0
    restitution: float = 0.0
    drive: Coordinate | None = None
    moving: object = None
