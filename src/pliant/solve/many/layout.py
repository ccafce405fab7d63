"""How scenes of one structure lie on a device: the order of nodes, the band of the matrix, what is summed where."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from pliant.kernels.joints import FACE, NODE, ON_COORDINATES, POINT_COORDINATES, POINTS
from pliant.rows.joints import POINT_WIDTH, TURN_WIDTH

# The six pairs of a tet's nodes whose blocks are stored (kernels.cuda.many_arrays).
PAIRS = {(1, 0): 0, (2, 0): 1, (2, 1): 2, (3, 0): 3, (3, 1): 4, (3, 2): 5}


@dataclass
class Layout:
    """order (n,): the node at each place; place (n,): the place of each node; tets (m, 4) by places; width: of the band
    in blocks. Lists for sums: slots of each node's forces; codes of each block of the band, which lies at
    block_place and has a row and a column."""

    order: np.ndarray
    place: np.ndarray
    tets: np.ndarray
    width: int
    slot_start: np.ndarray
    slots: np.ndarray
    block_start: np.ndarray
    block_place: np.ndarray
    block_row: np.ndarray
    block_column: np.ndarray
    block_codes: np.ndarray

    @property
    def pairs(self) -> np.ndarray:
        """Pairs (w (w + 1) / 2, 2) of the rows below a diagonal block, first those of few rows."""
        return np.array([(a, b) for a in range(self.width) for b in range(a + 1)], np.int32).reshape(-1, 2)


def lay_out(model) -> Layout:
    """The layout of a model's structure."""
    tets, count = model.elements.sets[0].connectivity, model.node_count
    held = [_nodes_of(model.joints, k) for k in range(len(model.joints.family))]
    links = np.concatenate([_pairs(tets), *(_pairs(nodes[None]) for nodes in held)])
    order = min(_orders(model.rest, links), key=lambda order: _width(order, links))
    place, width = np.argsort(order), _width(order, links)
    placed = place[tets]
    flat = np.argsort(placed.ravel(), kind="stable")
    slot_start = np.searchsorted(placed.ravel()[flat], np.arange(count + 1))
    blocks = _block_sums(placed, place[links], width)
    return Layout(order, place, placed.astype(np.int32), width, *_whole(slot_start, flat), *_whole(*blocks))


def _orders(x: np.ndarray, links: np.ndarray) -> list[np.ndarray]:
    """Orders (n,) of nodes at x (n, 3) that may have a narrow band: of Cuthill and McKee, and along their axes."""
    graph = coo_matrix((np.ones(len(links)), links.T), shape=(len(x), len(x))).tocsr()
    axes = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2]
    along = np.round((x - x.mean(axis=0)) @ axes.T / max(np.ptp(x), 1e-300), 9)
    return [np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), np.int64), np.lexsort(along.T[::-1])]


def _width(order: np.ndarray, links: np.ndarray) -> int:
    """How many blocks of a row lie before its diagonal."""
    return int(np.abs(np.diff(np.argsort(order)[links], axis=1)).max(initial=0))


def _whole(*arrays: np.ndarray) -> list[np.ndarray]:
    return [np.ascontiguousarray(array, dtype=np.int32) for array in arrays]


def _pairs(cells: np.ndarray) -> np.ndarray:
    """All pairs (k, 2) of the nodes of cells (c, w), each with itself too."""
    width = cells.shape[1]
    return np.stack([cells.repeat(width, axis=1), np.tile(cells, width)], axis=2).reshape(-1, 2)


def _nodes_of(blocks, k: int) -> np.ndarray:
    """Nodes that a block of a joint holds on to."""
    found = []
    for side in (blocks.a, blocks.b):
        found.extend(side.index[k, : 3 if side.kind[k] == FACE else 1 if side.kind[k] == NODE else 0])
    return np.array(found, np.int64)


def entry_counts(blocks) -> np.ndarray:
    """How many nodes the Jacobians of every block (n,) of JointBlocks have."""
    along = np.isin(blocks.family, ON_COORDINATES) & np.isin(blocks.coordinate[:, 0], POINT_COORDINATES)
    a, b, of_points = blocks.a.kind, blocks.b.kind, np.isin(blocks.family, POINTS) | along
    return np.where(of_points, POINT_WIDTH[a] + POINT_WIDTH[b], TURN_WIDTH[a] + TURN_WIDTH[b])


def _block_sums(tets: np.ndarray, links: np.ndarray, width: int) -> tuple[np.ndarray, ...]:
    """Of every block of the band in use: where its codes start, its place, its row and column; and the codes (6 tet +
    pair) * 4 + 2 negative + transposed of what is added up in it."""
    sums: dict[tuple[int, int], list[int]] = {(int(a), int(b)): [] for a, b in np.unique(links, axis=0) if a >= b}
    for e, nodes in enumerate(tets.tolist()):
        for (a, b), pair in PAIRS.items():
            code = (6 * e + pair) * 4
            row, column = nodes[a], nodes[b]
            sums[(row, column) if row > column else (column, row)].append(code + (row < column))
            sums[row, row].append(code + 2)  # minus the sum of the others
            sums[column, column].append(code + 3)
    keys = sorted(sums)
    row, column = (np.array([key[side] for key in keys]) for side in range(2))
    start = np.concatenate([[0], np.cumsum([len(sums[key]) for key in keys])])
    codes = np.concatenate([sums[key] for key in keys])
    return start, (row * (width + 1) + column - row + width) * 9, row, column, codes
