"""How much of the memory's bandwidth the kernels of a step use on a GPU."""

from pliant.benchmarks._beam import STEP

# Memory that is copied to measure the bandwidth [bytes].
COPIED = 1 << 30


def kernel_cases(scene, name: str) -> list[dict]:
    """Every kernel of a step at its first iteration: time, the least bytes it must move, and their share of what a copy
    of device memory reaches."""
    sim = scene.simulate(dt=STEP, device="cuda").step()
    solver = sim.working_solver
    program, codes, timing = solver.program, solver.codes, sim.model.device.resident.timing
    bandwidth = timing.copy_bandwidth(program, COPIED)
    iterate, trying = codes.mask(codes.ITERATE), codes.mask(codes.TRYING)
    sizes = bytes_moved(program.layout)
    found = []
    for status, label, work in (
        (codes.TRYING, "energies and forces", lambda: program.forces(trying)),
        (codes.START, "energies, forces and stiffness blocks", program.begin),
        (codes.ITERATE, "stiffness blocks", lambda: program.blocks(iterate)),
        (codes.ITERATE, "assembly", lambda: (program.edges(iterate), program.diagonals(iterate))),
        (codes.ITERATE, "product with the matrix", program.multiply),
        (codes.ITERATE, "renewal of the coarse level", program.renew),
    ):
        program.status_to(status)
        seconds = timing.seconds(program, work, 5)
        case = {"label": f"{name}: {label}", "us": 1e6 * seconds}
        if label in sizes:
            case |= {"MB": sizes[label] / 1e6, "share_of_bandwidth": sizes[label] / seconds / bandwidth}
        found.append(case)
    seconds = timing.gradient_time(program)
    moved = (96 + 16) * len(program.layout.tets) + program.layout.nodes * (24 * 4 + 24 + 12 * 5)
    case = {"label": f"{name}: gradient, sums and decision", "us": 1e6 * seconds, "MB": moved / 1e6}
    found.append(case | {"share_of_bandwidth": moved / seconds / bandwidth})
    found.append({"label": f"{name}: a pass of conjugate gradients", **timing.pass_time(program)})
    found.append({"label": f"{name}: copy of device memory", "TB_per_s": bandwidth / 1e12})
    return found


def bytes_moved(layout) -> dict[str, float]:
    """The least bytes of the kernels: each number that is needed read once, each result written once."""
    tets, rows, entries = len(layout.tets), layout.nodes, len(layout.entries["row"])
    element = tets * (16 + 72 + 8 + 16) + 24 * rows
    matrix = entries * 40 + rows * 24
    return {
        "energies and forces": element + 96 * tets,
        "energies, forces and stiffness blocks": element + (96 + 216) * tets,
        "stiffness blocks": element + 216 * tets,
        "assembly": 216 * tets + 24 * tets + entries * 36 + rows * 60,
        "product with the matrix": matrix + 32 * rows,
    }
