"""Contacts between surfaces that ended too deep, made harder than others for the rest of a step.

Where many contacts share a load, what one of them lacks is mobile by far less than the mobility of its own nodes says,
by which its compliance was chosen: renewals of its impulse then leave most of the error.
"""

import numpy as np

from pliant.collide.contacts import Contacts, of_solids
from pliant.kernels.lanes import LANES
from pliant.rows.potential import HARDER, HARDEST, RowPotential


def stiffen(rows: RowPotential, contacts: Contacts, index: np.ndarray, which: np.ndarray) -> None:
    """Make those of contacts, which (k,), that are between surfaces, one of them soft, harder from the next renewal on
    (sharp solids would be pressed into what is soft). index (k,): flat indices of their normal rows."""
    own = (index - _first(rows))[which & (contacts.node >= 0).any(axis=1) & ~of_solids(contacts.key)]
    compliance = rows.compliance[rows.contacts].reshape(-1)
    compliance[own] = np.maximum(HARDER * compliance[own], rows.hardest.reshape(-1)[own])
    rows.stiffened |= len(own) > 0


def stiffen_as(rows: RowPotential, own: tuple, other: RowPotential, theirs: tuple) -> None:
    """Make contacts, of which nothing was evaluated yet, as much harder than at first as the same ones in another
    potential are; own, theirs: keys (k,) of contacts and flat indices (k,) of their normal rows."""
    if not other.stiffened:
        return
    order, tangents = np.argsort(theirs[0], kind="stable"), LANES * np.arange(3)[:, None]
    keys = theirs[0][order]
    place = np.searchsorted(keys, own[0]).clip(max=len(keys) - 1)
    known = keys[place] == own[0]
    own, theirs = own[1][known] - _first(rows) + tangents, theirs[1][order[place[known]]] - _first(other) + tangents
    harder = HARDEST * other.compliance[other.contacts].reshape(-1)[theirs] / other.hardest.reshape(-1)[theirs]
    rows.compliance[rows.contacts].reshape(-1)[own] *= harder
    rows.stiffened = True
    rows.aim()


def _first(rows: RowPotential) -> int:
    """The flat index of the first row of contacts."""
    return 3 * LANES * rows.contacts.start
