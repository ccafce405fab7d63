"""From a mesh to its layout on the GPU of this machine."""

import numpy as np

from pliant.errors import DeviceError
from pliant.kernels.cuda.layout import Layout, choose_shape
from pliant.kernels.cuda.toolkit import find_gpu

# Memory for each element of a mesh [bytes], about, by its nodes, and the least share of what is free that must remain.
BYTES, RESERVE = {4: 1100, 10: 6000, 2: 400}, 0.05


def lay_out(
    points: np.ndarray, node_start: np.ndarray, tets: list[np.ndarray], more=(), within_shared: bool = True
) -> Layout:
    """The layout of a mesh with nodes `points` of bodies that begin at node_start; one too large is refused before
    anything is allocated. more: nodes (count, k) of elements of other kinds. within_shared: whether vectors are to
    lie in shared memory."""
    gpu, count = find_gpu(), sum(len(own) for own in (*tets, *more))
    needed = sum(BYTES[own.shape[1]] * len(own) for own in (*tets, *more))
    if needed > (1 - RESERVE) * gpu.free:
        raise DeviceError(
            f"{count} elements need about {needed / 1e9:.1f} GB on the GPU, and {gpu.name} has "
            f"{gpu.free / 1e9:.1f} GB free"
        )
    layout = Layout(points, node_start, tets, choose_shape(len(points), gpu.multiprocessors), more)
    if within_shared and layout.shared_bytes + 4096 > gpu.shared:
        most = int(len(points) * (gpu.shared - 4096) / layout.shared_bytes)
        raise DeviceError(
            f"{len(points)} nodes are too many for the shared memory of {gpu.name} ({gpu.multiprocessors} "
            f"multiprocessors of {gpu.shared} bytes); about {most} are possible"
        )
    return layout
