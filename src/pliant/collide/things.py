"""What may touch: soft bodies, counted first, and rigid ones."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.kernels.collide import Manners
from pliant.kernels.device import Device

# What a contact does when neither body says.
DEFAULT_FRICTION, DEFAULT_RESTITUTION = 0.5, 0.0
# Things up to which coefficients of all pairs are kept.
FEW = 64


def combined_friction(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Geometric mean of two coefficients; NaN means "as the other says"."""
    a, b = np.where(np.isnan(a), b, a), np.where(np.isnan(b), a, b)
    return np.where(np.isnan(a), DEFAULT_FRICTION, np.sqrt(a * b))


def combined_restitution(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The larger of two coefficients; NaN means "as the other says"."""
    return np.where(np.isnan(a) & np.isnan(b), DEFAULT_RESTITUTION, np.fmax(a, b))


@dataclass(frozen=True)
class Things:
    """Bodies (t,) as contacts see them.

    friction, restitution (t,): NaN for "as the other says". collides (t,) bool; still (t,) bool: never moved by
    what touches them, though they may go as they are told. group, mask (t,): bits of the groups a body belongs to,
    and of those it touches. excluded (k,): sorted keys first * t + second, first < second, of pairs that never
    touch. touches_itself (t,) bool; insists (t,) bool: the user asked for that. thickness (t,) [m]: distance from a
    surface at which contacts act, NaN where the user does not say. rolling, torsional (t,) [m]: largest torques
    against rolling and turning over the normal force, NaN where the user does not say. rule_key (r,): sorted keys
    of pairs with coefficients of their own, rule_friction, rule_restitution (r,): these, NaN for "as the things
    say". family (t,): things with the same number from 0 on do not touch each other.
    """

    device: Device
    soft_count: int
    friction: np.ndarray
    restitution: np.ndarray
    collides: np.ndarray
    still: np.ndarray
    group: np.ndarray
    mask: np.ndarray
    excluded: np.ndarray
    touches_itself: np.ndarray
    insists: np.ndarray
    thickness: np.ndarray
    rolling: np.ndarray
    torsional: np.ndarray
    rule_key: np.ndarray
    rule_friction: np.ndarray
    rule_restitution: np.ndarray
    family: np.ndarray

    def __len__(self) -> int:
        return len(self.friction)

    def may_touch(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Whether pairs of different things a, b (k,) may touch, (k,) bool."""
        return self._accept(self.manners, a, b)

    @cached_property
    def manners(self) -> Manners:
        """What decides who touches whom."""
        return Manners(self.collides, self.still, self.group, self.mask, self.family, self.excluded)

    def _accept(self, manners: Manners, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        out = np.empty(len(a), bool)
        self.device.collide.broad.may_touch(manners, a, b, out)
        return out

    def _found(self, keys: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where pairs a, b (k,) are among sorted keys, and whether they are."""
        key = np.minimum(a, b) * len(self) + np.maximum(a, b)
        place = np.searchsorted(keys, key).clip(max=len(keys) - 1)
        return place, keys[place] == key

    def coefficients(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Friction and restitution (k,) of pairs (k, 2) of things."""
        if len(self) > FEW:
            return self._coefficients(pairs)
        place = pairs[:, 0] * len(self) + pairs[:, 1]
        return tuple(each[place] for each in self._all_coefficients)

    @cached_property
    def _all_coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """The same (t t,) of every thing with every thing."""
        return self._coefficients(np.argwhere(np.ones((len(self), len(self)), bool)))

    def _coefficients(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = pairs.T
        friction = combined_friction(self.friction[a], self.friction[b])
        restitution = combined_restitution(self.restitution[a], self.restitution[b])
        if len(self.rule_key):
            place, ruled = self._found(self.rule_key, a, b)
            said = np.where(ruled, self.rule_friction[place], np.nan)
            friction = np.where(np.isnan(said), friction, said)
            said = np.where(ruled, self.rule_restitution[place], np.nan)
            restitution = np.where(np.isnan(said), restitution, said)
        return friction, restitution

    def torques(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lengths (k,) [m] of the largest torques against rolling and turning of pairs (k, 2): of each the larger."""
        a, b = pairs.T
        return tuple(
            np.zeros(len(a)) if np.isnan(each).all() else np.nan_to_num(np.fmax(each[a], each[b]))
            for each in (self.rolling, self.torsional)
        )

    def may_touch_others(self) -> np.ndarray:
        """Whether things (t,) may touch any other, or themselves because the user asked for it."""
        kind, alike, pairs = self._kinds()
        # how many others of a thing's own and of all kinds accept it, less those that are excluded
        count = (pairs @ np.bincount(kind, minlength=len(alike)))[kind] - pairs[kind, kind]
        a, b = self.excluded // max(len(self), 1), self.excluded % max(len(self), 1)
        apart = pairs[kind[a], kind[b]]
        count = count - np.bincount(np.concatenate([a[apart], b[apart]]), minlength=len(self))
        return (count > 0) | self.insists

    def _kinds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Things that are alike but for what is excluded: the kind (t,) of each, one of each kind (k,), and whether
        kinds (k, k) accept each other."""
        columns = np.stack([self.collides, self.still, self.group, self.mask, self.family], axis=1).astype(np.int64)
        _, alike, kind = np.unique(columns, axis=0, return_index=True, return_inverse=True)
        a, b = np.meshgrid(alike, alike, indexing="ij")
        bare = self.manners._replace(excluded=self.excluded[:0])
        return kind.ravel(), alike, self._accept(bare, a.ravel(), b.ravel()).reshape(len(alike), len(alike))

    def all_pairs(self, itself: np.ndarray | None = None) -> np.ndarray:
        """Whether things (t, t) may touch each other, and on the diagonal themselves, or what `itself` (t,) says."""
        kind, _, accepted = self._kinds()
        pairs = accepted[kind][:, kind]
        a, b = self.excluded // max(len(self), 1), self.excluded % max(len(self), 1)
        pairs[a, b] = pairs[b, a] = False
        pairs[np.diag_indices(len(self))] = self.touches_itself if itself is None else itself
        return pairs
