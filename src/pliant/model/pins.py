"""Pins that contradict each other: one node cannot move in two ways."""

import numpy as np

from pliant.errors import SceneError
from pliant.scene.bodies import Pin, Soft


def refuse_two_motions(body: Soft, index: int, moved: np.ndarray, nodes: np.ndarray, axes: np.ndarray) -> None:
    """Raise if pin `index` of a body moves some of nodes (k,) along some of axes (3,) bool otherwise than a pin before
    it does; moved (n, 3): the pin that moves each component, -1 for none."""
    pin, before = body.pins[index], np.where(axes, moved[nodes], -1)
    for other in np.unique(before[before >= 0]):
        shared = before == other
        both, along = nodes[shared.any(axis=1)], shared.any(axis=0)
        if not _alike(_motion(body, pin, both, along), _motion(body, body.pins[other], both, along)):
            raise SceneError(
                f"pins {other} and {index} of {body.name!r} move node {both[0]} in two ways along "
                f"{''.join(np.array(list('xyz'))[along])}; let one of them leave out that node or that axis"
            )


def _motion(body: Soft, pin: Pin, nodes: np.ndarray, along: np.ndarray) -> tuple:
    """The kind of a motion, and its values (k, axes) at nodes (k,) or the function of time that has them."""
    kind = "velocity" if pin.displacement is None else "displacement"
    value = (0.0, 0.0, 0.0) if pin.velocity is None and pin.displacement is None else getattr(pin, kind)
    if callable(value):
        return kind, value
    values = np.asarray(value)
    if values.ndim == 2:
        values = values[np.searchsorted(body.select(pin.nodes, "pin"), nodes)]
    return kind, np.broadcast_to(values, (len(nodes), 3))[:, along]


def _alike(one: tuple, other: tuple) -> bool:
    (kind, a), (other_kind, b) = one, other
    if callable(a) or callable(b):
        return kind == other_kind and a == b
    return np.array_equal(a, b) and (kind == other_kind or not a.any())
