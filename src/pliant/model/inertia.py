"""What resists changes of velocity, where that is the same in every step."""

from functools import cached_property

import numpy as np


class Inertia:
    """Of a model of nodes alone in still air, for steps of h [s]: drag (n,), the factors by which nodes resist change
    more for mass damping; inverse masses (n, 6: xx, yy, zz, yz, xz, xy) of what is free. Nobody writes into them."""

    def __init__(self, model, h: float):
        self.model, self.h, self.drag = model, h, 1 + h * model.node_mass_damping
        self.inverse_mass = np.zeros((model.node_count, 6))
        self.inverse_mass[:, :3] = model.free / (model.node_mass[:, None] * self.drag[:, None])

    @cached_property
    def mass(self) -> np.ndarray:
        """Blocks (n, 3, 3) with drag."""
        model, out = self.model, np.zeros((self.model.node_count, 3, 3))
        none = (model.body_mass, model.static, self.inverse_mass[model.node_count :])
        model.device.balance.mass_blocks(model.node_mass * self.drag, *none, out)
        return out

    @cached_property
    def mobility(self) -> np.ndarray:
        """Mobilities (n, 3) of free components with the stiffness of elements around nodes: what errors of a step are
        weighed with."""
        model, h, out = self.model, self.h, np.empty((self.model.node_count, 3))
        stiffness = h * (h * model.node_stiffness + model.node_damping)
        model.device.balance.balance_weights(self.inverse_mass, stiffness, model.free_triples, out)
        return out
