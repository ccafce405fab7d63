"""Loops over triples that a step needs many times: its inertia, what weighs its errors, the squares of its balance."""

from pliant.jit import kernel


@kernel
def inertia_terms(mass, push, u, gradient_out):
    """1/2 u^T M u - u^T push [J] with mass blocks (triples, 3, 3), and its gradient M u - push (triples, 3)."""
    value = 0.0
    for i in range(u.shape[0]):
        for r in range(3):
            moved = mass[i, r, 0] * u[i, 0] + mass[i, r, 1] * u[i, 1] + mass[i, r, 2] * u[i, 2]
            gradient_out[i, r] = moved - push[i, r]
            value += u[i, r] * (0.5 * moved - push[i, r])
    return value


@kernel
def balance_weights(inverse_mass, stiffness, free, out):
    """out (triples, 3): mobilities of free components: inverse masses (triples, 6: the diagonal counts) with stiffness
    (triples,) times h^2 added to the masses."""
    for i in range(out.shape[0]):
        largest = max(inverse_mass[i, 0], inverse_mass[i, 1], inverse_mass[i, 2])
        for c in range(3):
            out[i, c] = free[i, c] * inverse_mass[i, c] / (1.0 + stiffness[i] * largest)


@kernel
def balance_squares(mass, u, predicted, before, internal, h, rows, weight):
    """Weighted squares of a step's balance M (u - u*) + h f - J^T lambda, and of its parts: inertia, applied impulses
    M (u* - u_before), internal ones and those of rows. internal (n, 3) [N] is of the first triples."""
    balance, inertia, applied, elastic, joined = 0.0, 0.0, 0.0, 0.0, 0.0
    n = internal.shape[0]
    for i in range(u.shape[0]):
        a0, a1, a2 = u[i, 0] - predicted[i, 0], u[i, 1] - predicted[i, 1], u[i, 2] - predicted[i, 2]
        b0, b1, b2 = predicted[i, 0] - before[i, 0], predicted[i, 1] - before[i, 1], predicted[i, 2] - before[i, 2]
        for r in range(3):
            own = mass[i, r, 0] * a0 + mass[i, r, 1] * a1 + mass[i, r, 2] * a2
            push = mass[i, r, 0] * b0 + mass[i, r, 1] * b1 + mass[i, r, 2] * b2
            force = h * internal[i, r] if i < n else 0.0
            left, w = own + force - rows[i, r], weight[i, r]
            balance += left * left * w
            inertia += own * own * w
            applied += push * push * w
            elastic += force * force * w
            joined += rows[i, r] * rows[i, r] * w
    return balance, inertia, applied, elastic, joined


@kernel
def rounding_square(stiffness, x, part, weight):
    """Weighted square of the impulses that rounding makes: part of stiffness (n,) times the nodes' distance x (n, 3)
    from the origin, in every component; weight (triples, 3)."""
    total = 0.0
    for i in range(x.shape[0]):
        kick = part * stiffness[i] * max(abs(x[i, 0]), abs(x[i, 1]), abs(x[i, 2]))
        total += kick * kick * (weight[i, 0] + weight[i, 1] + weight[i, 2])
    return total


@kernel
def rounding_energy(stiffness, mass, x, part, h):
    """Twice the energy [J] of the motion that such impulses make of nodes with masses (n,), which their stiffness
    (n,) [N/m] holds."""
    total = 0.0
    for i in range(x.shape[0]):
        kick = h * part * stiffness[i] * max(abs(x[i, 0]), abs(x[i, 1]), abs(x[i, 2]))
        total += kick * kick / (mass[i] + h * h * stiffness[i])
    return total
