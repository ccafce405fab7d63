"""Element blocks into the blocks of a factorised matrix."""

from pliant.jit import kernel


@kernel
def scatter_blocks(blocks, index, values_inout):
    """Adds element blocks (m, 10, 9) to the blocks named by index (m, 10); -1: none, -2 - k: transposed into k."""
    for element in range(index.shape[0]):
        for pair in range(index.shape[1]):
            k = index[element, pair]
            if k >= 0:
                for r in range(3):
                    for c in range(3):
                        values_inout[k, r, c] += blocks[element, pair, 3 * r + c]
            elif k < -1:
                for r in range(3):
                    for c in range(3):
                        values_inout[-2 - k, c, r] += blocks[element, pair, 3 * r + c]
