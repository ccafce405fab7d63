"""Element blocks into the blocks of a factorised matrix."""

from pliant.jit import kernel


@kernel
def scatter_blocks(blocks, index, values_inout):
    """Adds element blocks (m, 9) to the blocks named by index (m,); -1: none, -2 - k: transposed into k."""
    for source in range(index.shape[0]):
        k = index[source]
        if k >= 0:
            for r in range(3):
                for c in range(3):
                    values_inout[k, r, c] += blocks[source, 3 * r + c]
        elif k < -1:
            for r in range(3):
                for c in range(3):
                    values_inout[-2 - k, c, r] += blocks[source, 3 * r + c]
