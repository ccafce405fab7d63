"""Which triangle covers a sample: the visibility loop of the rasteriser, for the picture and for its shadows.

Triangles are rasterised in homogeneous coordinates (Olano and Greer, "Triangle scan conversion using 2D homogeneous
coordinates", 1997). With corners p_i = (x, y, w) and a sample d = (sx, sy, 1), the numbers beta_i that solve
d = sum_i beta_i p_i are linear in sx and sy; the sample is inside when all are >= 0. They divide to perspective-correct
weights, and a triangle that crosses the plane of the eye needs no clipping. A quantity q carried by the corners gives
the nearness sum_i beta_i q_i: with w = depth and q = 1 it is 1 / depth (perspective), with w = 1 and q = height toward
the light it is that height (orthographic, for shadows). Larger is nearer.
"""

from math import ceil, floor

import numpy as np

from pliant.jit import formula, kernel

# Two triangles that share an edge must not both miss a sample that lies exactly on it [samples].
EDGE_SLACK = 1e-9


@kernel
def rasterise(corners, triangles, nearness_limit, nearness_out, index_out, weights_out):
    """Find the nearest triangle at every sample of an image.

    `corners` (n, 4) float64: x, y, w, q of the points; `triangles` (k, 3) int64; samples nearer than `nearness_limit`
    are dropped. Updates `nearness_out` (h, w) float32 and, unless it is empty, `index_out` (h, w) int32;
    writes `weights_out` (k, 3, 3) float64.
    """
    height, width = nearness_out.shape
    keep_index = index_out.size > 0
    smallest_w = 1.0 / nearness_limit
    for t in range(triangles.shape[0]):
        x0, y0, w0, q0 = corners[triangles[t, 0]]
        x1, y1, w1, q1 = corners[triangles[t, 1]]
        x2, y2, w2, q2 = corners[triangles[t, 2]]
        if w0 < smallest_w and w1 < smallest_w and w2 < smallest_w:
            continue
        ax, ay, a = y1 * w2 - w1 * y2, w1 * x2 - x1 * w2, x1 * y2 - y1 * x2
        determinant = x0 * ax + y0 * ay + w0 * a
        if determinant == 0.0:
            continue
        scale = 1.0 / determinant
        ax, ay, a = ax * scale, ay * scale, a * scale
        bx, by, b = (y2 * w0 - w2 * y0) * scale, (w2 * x0 - x2 * w0) * scale, (x2 * y0 - y2 * x0) * scale
        cx, cy, c = (y0 * w1 - w0 * y1) * scale, (w0 * x1 - x0 * w1) * scale, (x0 * y1 - y0 * x1) * scale
        weights_out[t, 0, 0], weights_out[t, 0, 1], weights_out[t, 0, 2] = ax, ay, a
        weights_out[t, 1, 0], weights_out[t, 1, 1], weights_out[t, 1, 2] = bx, by, b
        weights_out[t, 2, 0], weights_out[t, 2, 1], weights_out[t, 2, 2] = cx, cy, c
        left, right, top, bottom = _screen_box(x0, y0, w0, x1, y1, w1, x2, y2, w2, smallest_w, width, height)
        nx, ny, n = ax * q0 + bx * q1 + cx * q2, ay * q0 + by * q1 + cy * q2, a * q0 + b * q1 + c * q2
        for row in range(top, bottom):
            y = row + 0.5
            low, high = _narrow(left, right, ax, ay * y + a)
            low, high = _narrow(low, high, bx, by * y + b)
            low, high = _narrow(low, high, cx, cy * y + c)
            if not low <= high:
                continue
            start = ny * y + n
            for column in range(ceil(low - 0.5), floor(high - 0.5) + 1):
                nearness = np.float32(nx * (column + 0.5) + start)
                if nearness > nearness_out[row, column] and nearness <= nearness_limit:
                    nearness_out[row, column] = nearness
                    if keep_index:
                        index_out[row, column] = t


@formula
def _narrow(low, high, slope, constant):
    """The part of [low, high] where slope * x + constant >= 0."""
    if slope > 0.0:
        return max(low, -constant / slope - EDGE_SLACK), high
    if slope < 0.0:
        return low, min(high, -constant / slope + EDGE_SLACK)
    if constant < 0.0:
        return low, low - 1.0
    return low, high


@formula
def _screen_box(x0, y0, w0, x1, y1, w1, x2, y2, w2, smallest_w, width, height):
    """Left, right [samples] and first, last + 1 row of the triangle's part in front of the near plane."""
    left, right, top, bottom = 1e30, -1e30, 1e30, -1e30
    for xa, ya, wa, xb, yb, wb in (
        (x0, y0, w0, x1, y1, w1),
        (x1, y1, w1, x2, y2, w2),
        (x2, y2, w2, x0, y0, w0),
    ):
        if wa >= smallest_w:
            left, right = min(left, xa / wa), max(right, xa / wa)
            top, bottom = min(top, ya / wa), max(bottom, ya / wa)
        if (wa >= smallest_w) != (wb >= smallest_w):  # the edge crosses the near plane here
            part = (smallest_w - wa) / (wb - wa)
            x, y = (xa + part * (xb - xa)) / smallest_w, (ya + part * (yb - ya)) / smallest_w
            left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
    left, right = max(left - EDGE_SLACK, 0.0), min(right + EDGE_SLACK, float(width))
    top, bottom = min(max(top - EDGE_SLACK, 0.0), float(height)), max(min(bottom + EDGE_SLACK, float(height)), 0.0)
    return left, right, ceil(top - 0.5), floor(bottom - 0.5) + 1
