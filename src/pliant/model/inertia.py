"""What resists changes of velocity, where that is the same in every step."""

from functools import cached_property

import numpy as np


class Inertia:
    """Of a model in still air of which nodes alone move freely, for steps of h [s]: drag (n,), the factors by which
    nodes resist change more for mass damping; inverse masses (triples, 6: xx, yy, zz, yz, xz, xy) of what is free, none
    of bodies. Nobody writes into them."""

    def __init__(self, model, h: float):
        self.model, self.h, self.drag = model, h, 1 + h * model.node_mass_damping
        self.inverse_mass, n = np.zeros((model.triple_count, 6)), model.node_count
        self.inverse_mass[:n, :3] = model.free / (model.node_mass[:, None] * self.drag[:, None])

    @cached_property
    def mass(self) -> np.ndarray:
        """Blocks (triples, 3, 3) with drag."""
        model, out = self.model, np.zeros((self.model.triple_count, 3, 3))
        none = (model.body_mass, model.static, self.inverse_mass[model.node_count :])
        model.device.balance.mass_blocks(model.node_mass * self.drag, *none, out)
        return out

    @cached_property
    def mobility(self) -> np.ndarray:
        """Mobilities (triples, 3) of free components with the stiffness of elements around nodes: what errors of a step
        are weighed with."""
        model, h, out = self.model, self.h, np.empty((self.model.triple_count, 3))
        stiffness, n = np.zeros(model.triple_count), model.node_count
        stiffness[:n] = h * (h * model.node_stiffness + model.node_damping)
        model.device.balance.balance_weights(self.inverse_mass, stiffness, model.free_triples, out)
        return out
