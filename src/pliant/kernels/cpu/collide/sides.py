"""Contacts of surfaces with solids, written as the columns of `Contacts`."""

from pliant.jit import kernel


@kernel
def write_sides(
    pairs, which, members, share, feature, x, thing, soft_count, names, node_out, weight_out, body_out, thing_out,
    point_out, key_out,
):  # fmt: skip
    """Contacts (k,) of which[k] of the pairs (m, 2) of primitives and bodies: nodes and shares (k, 4) of a primitive of
    a soft body, with nodes members (p, 1 to 3) and shares (k, 1 to 3) at x (n, 3), or the rigid mesh it is of; bodies
    and things (k, 2), points (k, 3) [m], keys. names: bits of a key that are the same for all, and places of the
    primitive and of the body in it, below which is the feature (k,)."""
    kind, first, second = names
    width = members.shape[1]
    for k in range(len(which)):
        primitive, body = pairs[which[k], 0], pairs[which[k], 1]
        own = thing[members[primitive, 0]]
        for j in range(4):
            node_out[k, j], weight_out[k, j] = -1, 0.0
        for c in range(3):
            point_out[k, c] = 0.0
        for j in range(width):
            n = members[primitive, j]
            if own < soft_count:
                node_out[k, j], weight_out[k, j] = n, share[k, j]
            for c in range(3):
                point_out[k, c] += share[k, j] * x[n, c]
        body_out[k, 0], body_out[k, 1] = own - soft_count if own >= soft_count else -1, body
        thing_out[k, 0], thing_out[k, 1] = own, soft_count + body
        key_out[k] = kind | (primitive << first) | (body << second) | feature[k]
