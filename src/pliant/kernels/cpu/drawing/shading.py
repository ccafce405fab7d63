"""What colour a pixel has: light, shadow, colour map, mesh lines and the ground, from the visible triangles."""

from math import sqrt

import numpy as np

from pliant.jit import formula, kernel
from pliant.kernels.drawing import COARSE_BLOCK

# What a sample sees, when not a triangle (those count from 0).
NOTHING = -1
GROUND = -2
COUNTED = -3


@kernel
def shade(samples, nearness, index, triangles, view, background, light, ground, encode, image_out):
    """Colour the picture (h, w, 3) uint8 from `samples` x `samples` visibility samples per pixel.

    `index` counts where `nearness` is above 0. Samples of a pixel that see the same thing are shaded once, at their
    mean. `background` (h, 3) float64 is in linear light, which `encode` (n,) uint8 maps to display values.
    """
    height, width = image_out.shape[:2]
    count = samples * samples
    seen = np.empty(count, np.int64)
    top_code = encode.size - 1
    # 1 / depth of the ground is linear on the picture
    drop = 1.0 / (ground.height - view.eye[2])
    level, level_x, level_y = view.corner[2] * drop, view.across[2] * drop, view.down[2] * drop
    for row in range(height):
        back = background[row, 0], background[row, 1], background[row, 2]
        for column in range(width):
            left, top = column * samples, row * samples
            same = True
            k = 0
            for r in range(top, top + samples):
                for c in range(left, left + samples):
                    near = nearness[r, c]
                    if ground.visible and level + level_x * (c + 0.5) + level_y * (r + 0.5) > near:
                        thing = GROUND
                    elif near > 0.0:
                        thing = np.int64(index[r, c])
                    else:
                        thing = NOTHING
                    seen[k] = thing
                    same = same and thing == seen[0]
                    k += 1
            red = green = blue = 0.0
            for k in range(count):
                thing = seen[k]
                if thing == COUNTED:
                    continue
                x, y, share = left + 0.5 * samples, top + 0.5 * samples, count
                if not same:
                    x, y, share = _mean_place(seen, k, samples, left, top)
                if thing >= 0:
                    color = _triangle_color(thing, x, y, samples, triangles, view, light)
                elif thing == GROUND:
                    depth = 1.0 / (level + level_x * x + level_y * y)
                    color = _ground_color(back, x, y, samples, depth, view, light, ground)
                else:
                    color = back
                red += share * color[0]
                green += share * color[1]
                blue += share * color[2]
                if same:
                    break
            mean = 1.0 / count
            image_out[row, column, 0] = encode[int(min(red * mean, 1.0) * top_code + 0.5)]
            image_out[row, column, 1] = encode[int(min(green * mean, 1.0) * top_code + 0.5)]
            image_out[row, column, 2] = encode[int(min(blue * mean, 1.0) * top_code + 0.5)]


@formula
def _mean_place(seen, first, samples, left, top):
    """Mean position and number of the samples from `first` on that see the same; marks the later ones as counted."""
    thing = seen[first]
    sum_x, sum_y, share = 0.0, 0.0, 0
    for k in range(first, samples * samples):
        if seen[k] == thing:
            sum_x += left + k % samples + 0.5
            sum_y += top + k // samples + 0.5
            share += 1
            seen[k] = COUNTED
    return sum_x / share, sum_y / share, share


@formula
def _triangle_color(t, x, y, samples, triangles, view, light):
    """Linear light of triangle `t` seen at sample position (x, y)."""
    weights = triangles.weights
    b0 = max(weights[t, 0, 0] * x + weights[t, 0, 1] * y + weights[t, 0, 2], 0.0)
    b1 = max(weights[t, 1, 0] * x + weights[t, 1, 1] * y + weights[t, 1, 2], 0.0)
    b2 = max(weights[t, 2, 0] * x + weights[t, 2, 1] * y + weights[t, 2, 2], 0.0)
    depth = 1.0 / (b0 + b1 + b2)
    u, v, w = b0 * depth, b1 * depth, b2 * depth
    ray_x = view.corner[0] + x * view.across[0] + y * view.down[0]
    ray_y = view.corner[1] + x * view.across[1] + y * view.down[1]
    ray_z = view.corner[2] + x * view.across[2] + y * view.down[2]
    facing = triangles.normals[t, 0] * ray_x + triangles.normals[t, 1] * ray_y + triangles.normals[t, 2] * ray_z
    behind = facing > 0.0
    red, green, blue = _palette_color(t, u, v, w, behind, triangles)
    if triangles.edged[t]:
        lightness = 1.0 - _line_cover(t, b0, b1, b2, samples, triangles)
        red, green, blue = red * lightness, green * lightness, blue * lightness
    if not light.lit:
        return red, green, blue
    normals = triangles.corner_normals
    nx = u * normals[t, 0, 0] + v * normals[t, 1, 0] + w * normals[t, 2, 0]
    ny = u * normals[t, 0, 1] + v * normals[t, 1, 1] + w * normals[t, 2, 1]
    nz = u * normals[t, 0, 2] + v * normals[t, 1, 2] + w * normals[t, 2, 2]
    inverse = 1.0 / sqrt(nx * nx + ny * ny + nz * nz + 1e-30)
    side = -1.0 if behind else 1.0
    inverse *= side
    nx, ny, nz = nx * inverse, ny * inverse, nz * inverse
    px, py, pz = view.eye[0] + depth * ray_x, view.eye[1] + depth * ray_y, view.eye[2] + depth * ray_z
    inverse = 1.0 / sqrt(ray_x * ray_x + ray_y * ray_y + ray_z * ray_z)
    vx, vy, vz = -ray_x * inverse, -ray_y * inverse, -ray_z * inverse
    up = 0.5 + 0.5 * nz
    head = light.headlight * max(nx * vx + ny * vy + nz * vz, 0.0)
    lambert = nx * light.toward[0] + ny * light.toward[1] + nz * light.toward[2]
    key = shine = 0.0
    if lambert > 0.0:
        px, py, pz = _lift(t, u, v, w, px, py, pz, side, triangles)
        visibility = _visibility(px, py, pz, nx, ny, nz, lambert, light)
        key = lambert * visibility
        hx, hy, hz = vx + light.toward[0], vy + light.toward[1], vz + light.toward[2]
        cosine = max(nx * hx + ny * hy + nz * hz, 0.0) / sqrt(hx * hx + hy * hy + hz * hz + 1e-30)
        power = cosine * cosine  # Blinn's highlight, exponent 48
        power = power * power * power
        power = power * power
        power = power * power
        power = power * power
        shine = light.gloss * power * visibility
    return (
        red * (light.bounce[0] + up * (light.sky[0] - light.bounce[0]) + head + key * light.key[0]) + shine,
        green * (light.bounce[1] + up * (light.sky[1] - light.bounce[1]) + head + key * light.key[1]) + shine,
        blue * (light.bounce[2] + up * (light.sky[2] - light.bounce[2]) + head + key * light.key[2]) + shine,
    )


@formula
def _lift(t, u, v, w, px, py, pz, side, triangles):
    """Move a point of a flat triangle out to the rounded surface its corner normals stand for.

    Where the shading is smooth the facets then do not shadow each other (J. Hanika, "Hacking the shadow terminator",
    Ray Tracing Gems II, 2021); flat triangles stay where they are.
    """
    lift_x = lift_y = lift_z = 0.0
    for corner, weight in ((0, u), (1, v), (2, w)):
        nx, ny, nz = triangles.corner_normals[t, corner]
        x, y, z = triangles.corners[t, corner]
        below = weight * min(side * ((px - x) * nx + (py - y) * ny + (pz - z) * nz), 0.0) * side
        lift_x, lift_y, lift_z = lift_x - below * nx, lift_y - below * ny, lift_z - below * nz
    return px + lift_x, py + lift_y, pz + lift_z


@formula
def _palette_color(t, u, v, w, behind, triangles):
    """The field value at weights (u, v, w), looked up between two entries of the palette row of the side seen."""
    values = triangles.corner_values
    place = u * values[t, 0] + v * values[t, 1] + w * values[t, 2]
    place = min(max(place, 0.0), 1.0) * (triangles.palette.shape[1] - 1)
    low = min(int(place), triangles.palette.shape[1] - 2)
    part = place - low
    row = triangles.palette[triangles.palette_row[t, 1 if behind else 0]]
    return (
        row[low, 0] + part * (row[low + 1, 0] - row[low, 0]),
        row[low, 1] + part * (row[low + 1, 1] - row[low, 1]),
        row[low, 2] + part * (row[low + 1, 2] - row[low, 2]),
    )


@formula
def _line_cover(t, b0, b1, b2, samples, triangles):
    """How dark the mesh lines make this place, 0 to 1: thin smooth lines that vanish as triangles get tiny."""
    weights = triangles.weights
    d0 = b0 / sqrt(weights[t, 0, 0] ** 2 + weights[t, 0, 1] ** 2 + 1e-300)
    d1 = b1 / sqrt(weights[t, 1, 0] ** 2 + weights[t, 1, 1] ** 2 + 1e-300)
    d2 = b2 / sqrt(weights[t, 2, 0] ** 2 + weights[t, 2, 1] ** 2 + 1e-300)
    distance = min(d0, min(d1, d2)) / samples
    smallest = min(triangles.heights[t, 0], min(triangles.heights[t, 1], triangles.heights[t, 2])) / samples
    strength = min(max((smallest - 2.0) / 8.0, 0.0), 1.0)
    return 0.66 * strength * min(max(1.0 - distance, 0.0), 1.0)


@formula
def _ground_color(back, x, y, samples, depth, view, light, ground):
    """Linear light of the checkerboard at sample position (x, y), faded into the background `back`."""
    ray_x = view.corner[0] + x * view.across[0] + y * view.down[0]
    ray_y = view.corner[1] + x * view.across[1] + y * view.down[1]
    ray_z = view.corner[2] + x * view.across[2] + y * view.down[2]
    px, py = view.eye[0] + depth * ray_x, view.eye[1] + depth * ray_y
    far_x, far_y = (px - ground.centre[0]) * ground.inverse_fade, (py - ground.centre[1]) * ground.inverse_fade
    far = far_x * far_x + far_y * far_y
    if far >= 16.0:
        return back
    # size of a pixel on the ground, along x and y
    slope_x, slope_y = view.across[2] * depth / ray_z, view.down[2] * depth / ray_z
    wide_x = samples * max(abs(depth * view.across[0] - slope_x * ray_x), abs(depth * view.down[0] - slope_y * ray_x))
    wide_y = samples * max(abs(depth * view.across[1] - slope_x * ray_y), abs(depth * view.down[1] - slope_y * ray_y))
    stripe = _stripes(px * ground.checks_per_metre, wide_x * ground.checks_per_metre)
    stripe = 0.5 + 0.5 * stripe * _stripes(py * ground.checks_per_metre, wide_y * ground.checks_per_metre)
    red = ground.dark[0] + stripe * (ground.light[0] - ground.dark[0])
    green = ground.dark[1] + stripe * (ground.light[1] - ground.dark[1])
    blue = ground.dark[2] + stripe * (ground.light[2] - ground.dark[2])
    if light.lit:
        key = 0.0
        if light.toward[2] > 0.0:
            key = light.toward[2] * _visibility(px, py, ground.height, 0.0, 0.0, 1.0, light.toward[2], light)
        open_sky = 1.0 - _occlusion(px, py, ground)
        red *= open_sky * light.sky[0] + key * light.key[0]
        green *= open_sky * light.sky[1] + key * light.key[1]
        blue *= open_sky * light.sky[2] + key * light.key[2]
    stay = 1.0 - far / 16.0  # its 16th power is close to exp(-far) and ends at 16
    stay = stay * stay
    stay = stay * stay
    stay = stay * stay
    stay = stay * stay
    return back[0] + stay * (red - back[0]), back[1] + stay * (green - back[1]), back[2] + stay * (blue - back[2])


@formula
def _stripes(place, wide):
    """Mean of the square wave (+1 on [0, 1), -1 on [1, 2), ...) over `wide` around `place`."""
    wide = max(wide, 1e-9)
    # the integral of the square wave is a triangle wave
    low, high = 0.5 * (place - 0.5 * wide), 0.5 * (place + 0.5 * wide)
    low, high = abs(low - np.floor(low) - 0.5), abs(high - np.floor(high) - 0.5)
    return 2.0 * (low - high) / wide


@formula
def _occlusion(px, py, ground):
    """How much of the sky the ground misses at (px, py), bilinear."""
    size = ground.occlusion.shape[0]
    u = (px - ground.occlusion_origin[0]) * ground.occlusion_texels_per_metre - 0.5
    v = (py - ground.occlusion_origin[1]) * ground.occlusion_texels_per_metre - 0.5
    if not (u >= 0.0 and v >= 0.0 and u < size - 1 and v < size - 1):
        return 0.0
    i, j = int(u), int(v)
    s, r = u - i, v - j
    low = ground.occlusion[j, i] * (1.0 - s) + ground.occlusion[j, i + 1] * s
    high = ground.occlusion[j + 1, i] * (1.0 - s) + ground.occlusion[j + 1, i + 1] * s
    return low * (1.0 - r) + high * r


@formula
def _visibility(px, py, pz, nx, ny, nz, lambert, light):
    """Share of the key light that reaches a point: the shadow map, averaged over a square of 4 texels.

    Each texel compares with the plane through the point (normal n), not with the point: no surface shadows itself.
    """
    size = light.heights.shape[0]
    rows = light.rows
    u = rows[0, 0] * px + rows[0, 1] * py + rows[0, 2] * pz + light.offset[0] - 2.0
    v = rows[1, 0] * px + rows[1, 1] * py + rows[1, 2] * pz + light.offset[1] - 2.0
    if not (u >= 0.0 and v >= 0.0 and u < size - 5 and v < size - 5):
        return 1.0
    i, j = int(u), int(v)
    s, r = u - i, v - j
    squash = -light.texel * light.texel / max(lambert, 0.15)
    slope_u = squash * (rows[0, 0] * nx + rows[0, 1] * ny + rows[0, 2] * nz)
    slope_v = squash * (rows[1, 0] * nx + rows[1, 1] * ny + rows[1, 2] * nz)
    base = light.toward[0] * px + light.toward[1] * py + light.toward[2] * pz + light.offset[2] + 1.5 * light.texel
    base -= slope_u * (s + 1.5) + slope_v * (r + 1.5)
    block = light.coarse[j // COARSE_BLOCK, i // COARSE_BLOCK]
    if block <= base + min(4.0 * slope_u, 0.0) + min(4.0 * slope_v, 0.0):
        return 1.0
    heights = light.heights
    lit = 0
    for b in (0, 2, 4):
        for a in (0, 2, 4):
            lit += heights[j + b, i + a] <= base + slope_u * a + slope_v * b
    if lit == 0 or lit == 9:
        return lit / 9.0
    total = 0.0
    for b in range(5):
        weight_b = 1.0 - r if b == 0 else (r if b == 4 else 1.0)
        line = 0.0
        for a in range(5):
            weight_a = 1.0 - s if a == 0 else (s if a == 4 else 1.0)
            if heights[j + b, i + a] <= base + slope_u * a + slope_v * b:
                line += weight_a
        total += weight_b * line
    return total / 16.0
