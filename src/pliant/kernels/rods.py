"""Where the numbers of a rod's segment lie, for kernels of any device."""

# Columns of frames: the middle frame (9), psi (3), direction (3), length, and the six numbers of its turn.
MIDDLE, PSI, DIRECTION, LENGTH, NUMBERS, FRAME_COLUMNS = 0, 9, 12, 15, 16, 22
# Where the moments on both ends follow six blocks.
END = 54
