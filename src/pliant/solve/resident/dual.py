"""The dual solver with its box problems on a device: the steps are the host's own."""

from pliant.solve.dual.solver import POWER_ITERATIONS, DualSolver
from pliant.solve.info import Info
from pliant.solve.options import Dual


class DrivenDual(DualSolver):
    """Elements, joints and contacts as rows of one matrix-free operator, whose problems a device solves."""

    def __init__(self, options: Dual, model, dtype):
        super().__init__(options, model, dtype)
        kernels = model.device.resident
        gpu, room = kernels.toolkit.find_gpu(), kernels.room.Room()
        self.program = kernels.impulse_program.ImpulseProgram(self.dtype, room, gpu.multiprocessors, gpu.shared)

    def _once(self, operator, b, low, high, friction, x, work, tolerance, most, direction) -> tuple[Info, float]:
        bounds, limits = (low, high), (tolerance, most, direction, POWER_ITERATIONS)
        found = self.program.solve(operator, b, *bounds, friction, x, work[0], *limits)
        products, residual, refreshes, left = found
        return Info("dual mprgp", products, residual, residual <= tolerance, refreshes=refreshes), left
