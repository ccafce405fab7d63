"""What may touch: soft bodies, counted first, and rigid ones."""

from dataclasses import dataclass

import numpy as np

# What a contact does when neither body says.
DEFAULT_FRICTION, DEFAULT_RESTITUTION = 0.5, 0.0


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
    anything. group, mask (t,): bits of the groups a body belongs to, and of those it touches. excluded (k,): sorted
    keys first * t + second, first < second, of pairs that never touch. touches_itself (t,) bool; insists (t,) bool:
    the user asked for that. thickness (t,) [m]: distance from a surface at which contacts act, NaN where the user does
    not say. rolling, torsional (t,) [m]: largest torques against rolling and turning over the normal force, NaN where
    the user does not say. rule_key (r,): sorted keys of pairs with coefficients of their own, rule_friction,
    rule_restitution (r,): these, NaN for "as the things say".
    """

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

    def __len__(self) -> int:
        return len(self.friction)

    def may_touch(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Whether pairs of different things a, b (k,) may touch, (k,) bool."""
        free = self.collides[a] & self.collides[b] & ~(self.still[a] & self.still[b])
        free &= ((self.group[a] & self.mask[b]) != 0) & ((self.group[b] & self.mask[a]) != 0)
        if len(self.excluded):
            free &= ~self._found(self.excluded, a, b)[1]
        return free

    def _found(self, keys: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where pairs a, b (k,) are among sorted keys, and whether they are."""
        key = np.minimum(a, b) * len(self) + np.maximum(a, b)
        place = np.searchsorted(keys, key).clip(max=len(keys) - 1)
        return place, keys[place] == key

    def coefficients(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Friction and restitution (k,) of pairs (k, 2) of things."""
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
        return tuple(np.nan_to_num(np.fmax(each[a], each[b])) for each in (self.rolling, self.torsional))

    def may_touch_others(self) -> np.ndarray:
        """Whether things (t,) may touch any other, or themselves because the user asked for it."""
        return self.all_pairs(self.insists).any(axis=1)

    def all_pairs(self, itself: np.ndarray | None = None) -> np.ndarray:
        """Whether things (t, t) may touch each other, and on the diagonal themselves, or what `itself` (t,) says."""
        a, b = np.meshgrid(np.arange(len(self)), np.arange(len(self)), indexing="ij")
        pairs = self.may_touch(a.ravel(), b.ravel()).reshape(len(self), len(self))
        pairs[np.diag_indices(len(self))] = self.touches_itself if itself is None else itself
        return pairs
