"""Tet meshes from closed surfaces: what the user calls, what is checked before and after."""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict, dataclass

import numpy as np

from ..errors import MeshError
from .checks import check_elements, check_points
from .enclosed import enclosed_volume
from .files import read_surface
from .islands import drop_islands
from .lattice import fill
from .other_meshers import fill_by_tetgen, fill_by_tetwild
from .repair import consistent_orientation, drop_unused, signed_volume
from .shaping import shape, smallest_angles
from .surface_faults import refuse, surface_faults
from .surface_repair import RepairedSurface, repair_surface
from .tangles import refuse_tangles
from .tet_mesh import TetMesh, repair_tets
from .tri_mesh import TriMesh
from .wording import option

METHODS = ("lattice", "tetwild", "tetgen")
GRADINGS = (1, 2, 4, 8, 16)
LATTICE_VOLUME = 12
"""Size cubed over the volume of a tet of the lattice."""
GUARANTEED = 10.0
"""Dihedral angles of the lattice method are at least this [degrees], unless another angle is asked for."""
STEEPEST = 30.0
"""The largest smallest angle [degrees] that may be asked for; the lattice itself has 60 and 90, its stencils 10.8."""
CELLS_ACROSS = 32
"""The usual size: so many to the diagonal of the surface."""
REFINEMENTS = 3
"""How often the usual size is halved until the volume is right."""

Surface = "TriMesh | tuple[np.ndarray, np.ndarray] | str | os.PathLike"


@dataclass(frozen=True)
class MeshingOptions:
    """What `tetrahedralize` is asked for; the fields are its keywords."""

    size: float | None = None
    grading: int = 1
    min_dihedral: float | None = None
    sharp: float | None = None
    max_volume: float | None = None
    max_radius_edge: float | None = None
    max_volume_error: float = 0.01
    repair: bool = False
    method: str = "lattice"

    def __post_init__(self):
        self._check_numbers()
        if self.method not in METHODS:
            raise MeshError(f"{option('method')} must be one of {', '.join(METHODS)}, not {self.method!r}")
        if self.grading not in GRADINGS or isinstance(self.grading, bool):
            allowed = ", ".join(map(str, GRADINGS))
            raise MeshError(f"{option('grading')} must be one of {allowed}, not {self.grading!r}")
        object.__setattr__(self, "grading", int(self.grading))
        if self.method != "lattice":
            for key, default in (("grading", 1), ("sharp", None)):
                if getattr(self, key) != default:
                    mine, other = option("method", "lattice"), option("method", self.method)
                    raise MeshError(f"{option(key)} is for {mine}; {other} has none")

    def _check_numbers(self) -> None:
        bounds = {"size": np.inf, "min_dihedral": STEEPEST, "sharp": 180.0, "max_volume": np.inf}
        bounds |= {"max_radius_edge": np.inf, "max_volume_error": np.inf}
        for key, high in bounds.items():
            value = getattr(self, key)
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if value is not None and not (number and 0 < value < np.inf and value <= high):
                up_to = "" if high == np.inf else f" and at most {high:g}"
                raise MeshError(f"{option(key)} must be a finite number above 0{up_to}, not {value!r}")
            if value is not None:
                object.__setattr__(self, key, float(value))

    def given(self) -> dict:
        """Those that differ from their defaults."""
        defaults = asdict(MeshingOptions())
        return {key: value for key, value in asdict(self).items() if value != defaults[key]}


def tetrahedralize(surface: Surface, **options) -> TetMesh:
    """Fill a closed surface with tets.

    surface: a TriMesh, a pair (points (n, 3) [m], triangles (m, 3)), or the name of a mesh file.
    size: length [m] of the tets' edges at the surface; unless told, a 32nd of the diagonal, or less if the volume needs
        it. grading: 1, 2, 4, 8 or 16: how many times larger tets may be deep inside.
    min_dihedral: smallest angle between two faces of a tet [degrees], 10 unless told for the lattice.
    sharp: edges at which the surface turns by more than this [degrees] are kept; unless told they are cut off by less
        than the size. Kept as far as `min_dihedral` allows, and a boundary that does not meet itself.
    max_volume: of a tet [m^3]. max_radius_edge: largest ratio of circumradius to shortest edge.
    max_volume_error: how much the volume may differ from the surface's, in parts of it; 0.01 unless told.
    repair: close holes, turn and drop triangles, as a warning then says; see `repair_surface`.
    method: "lattice" (built in, repeatable: isosurface stuffing, Labelle and Shewchuk 2007), "tetwild" (extra `mesh`),
        "tetgen" (extra `tetgen`, AGPL).

    Raises MeshError that lists, with places, what keeps the surface from bounding a solid, or names the demand that
    cannot be met, or the places where the boundary of the mesh would meet itself. Surfaces may have several pieces,
    nested and touching ones too.
    """
    chosen = _options(options)
    ready, source = _prepared(surface, chosen)
    goal = _goal(ready, chosen)
    for mesh, complaint in _attempts(ready, chosen):
        error = abs(mesh.volume / goal - 1) if mesh is not None else 1.0
        if error <= chosen.max_volume_error and not complaint:
            break
    if complaint:
        raise MeshError(complaint)
    _check_volume(error, chosen, ready)
    _check_pieces(mesh, ready)
    _check_quality(mesh, chosen)
    refuse_tangles(mesh.points, mesh.boundary_faces, _remedy_of_tangles(chosen))
    return mesh.with_source(source) if source else mesh


def _options(options: dict) -> MeshingOptions:
    try:
        return MeshingOptions(**options)
    except TypeError:
        known = asdict(MeshingOptions())
        wrong = ", ".join(sorted(options.keys() - known.keys()))
        raise MeshError(f"tetrahedralize has no option {wrong}; allowed are {', '.join(known)}") from None


def _prepared(surface: Surface, options: MeshingOptions) -> tuple[RepairedSurface, dict | None]:
    """The surface, checked or repaired, and how the mesh will be described if it came from a file."""
    said = {key: value for key, value in options.given().items() if key != "repair"}
    file = None
    if isinstance(surface, str | os.PathLike):
        points, triangles = read_surface(surface)
        file = os.path.abspath(surface)
    elif isinstance(surface, TriMesh):
        points, triangles = surface.points, surface.triangles
        if (surface.source or {}).get("file") and not surface.source.get("repair"):
            file = surface.source["file"]
    elif isinstance(surface, tuple) and len(surface) == 2:
        points = check_points(surface[0])
        triangles = check_elements(surface[1], (3,), len(points), "triangles")
    else:
        raise MeshError(f"a surface is a TriMesh, (points, triangles) or the name of a file, not {surface!r}")
    source = {"file": file, "repair": options.repair, "tetrahedralize": said} if file else None
    if options.repair:
        ready = repair_surface(points, triangles)
        if ready.notes:
            warnings.warn(
                f"the surface was repaired: {'; '.join(ready.notes)}. See whether the mesh is what was meant, or mend "
                f"the surface where it was made; without repair it is refused while it has such faults",
                stacklevel=3,
            )
        return ready, source
    refuse(
        surface_faults(points, triangles), str(surface) if file and not isinstance(surface, TriMesh) else "the surface"
    )
    points, triangles, _ = drop_unused(points, triangles, {})
    return RepairedSurface(points, triangles.astype(np.int64), []), source


def _goal(ready: RepairedSurface, options: MeshingOptions) -> float:
    """The volume [m^3] that the mesh should have."""
    volume, doubt = enclosed_volume(ready.points, ready.triangles, ready.crossed)
    if doubt > options.max_volume_error:
        raise MeshError(
            f"the volume of pieces of the surface that overlap cannot be told to {100 * options.max_volume_error:.3g} "
            "%: unite them where they are drawn, or use a larger max_volume_error"
        )
    return volume


def _attempts(ready: RepairedSurface, options: MeshingOptions):
    """Meshes of the size asked for, or of the usual one and smaller ones (None where nothing is inside), and complaints
    about each."""
    diagonal = float(np.linalg.norm(np.ptp(ready.points, axis=0)))
    sizes = [diagonal / CELLS_ACROSS / 2**k for k in range(REFINEMENTS + 1)] if options.size is None else [options.size]
    bound = np.inf
    if options.max_volume:
        # tets at the surface are up to twice as large as those of the lattice, and those inside grow with the grading
        bound = (LATTICE_VOLUME * options.max_volume / 2) ** (1 / 3) / options.grading
    tried = np.inf
    for size in sizes:
        size = min(size, bound)
        if size < tried:
            yield _mesh(ready, float(size), options)
        tried = size


def _mesh(ready: RepairedSurface, size: float, options: MeshingOptions) -> tuple[TetMesh | None, str]:
    """The mesh of one size, all its tets upright, and what is wrong with it."""
    if options.method == "lattice":
        levels = GRADINGS.index(options.grading)
        filling = fill(ready.points, ready.triangles, size, levels)
        if not len(filling.tets):
            return None, ""
        filling, complaint = drop_islands(filling, ready, size)
        points = shape(filling, ready, size, options.min_dihedral or GUARANTEED, options.sharp)
        return TetMesh.trusted(points, filling.tets), complaint
    if options.method == "tetwild":
        points, tets = fill_by_tetwild(ready.points, ready.triangles, size)
    else:
        limits = options.min_dihedral, options.max_volume, options.max_radius_edge
        points, tets = fill_by_tetgen(ready.points, ready.triangles, size, *limits)
    return TetMesh(*repair_tets(np.array(points, np.float64), tets.astype(np.int32), {})), ""


def _check_volume(error: float, options: MeshingOptions, ready: RepairedSurface) -> None:
    if error > options.max_volume_error:
        size = "" if options.size is None else f" at size {options.size:.3g} m"
        extent = " x ".join(f"{side:.3g}" for side in np.ptp(ready.points, axis=0))
        raise MeshError(
            f"the volume of the mesh differs by {100 * error:.3g} % from that of the surface ({extent} m){size}, "
            f"{100 * options.max_volume_error:.3g} % are allowed: use {_remedy_of_volumes(options)}"
        )


def _remedy_of_volumes(options: MeshingOptions) -> str:
    """What brings the volume nearer to that of the surface, or lets it differ."""
    edges = f", {option('sharp', 30)} to keep edges," if options.method == "lattice" and options.sharp is None else ""
    return f"a smaller {option('size')}{edges} or a larger {option('max_volume_error')}"


def _remedy_of_tangles(options: MeshingOptions) -> str:
    """What may keep the boundary from meeting itself."""
    other = [f"a smaller {option('min_dihedral')}"] if options.method == "lattice" or options.min_dihedral else []
    other += [f"no {option('sharp')}"] if options.sharp is not None else []
    return " or ".join([f"a smaller {option('size')}", *other])


def _check_pieces(mesh: TetMesh, ready: RepairedSurface) -> None:
    """Raise MeshError for a piece of the surface without tets."""
    piece, _ = consistent_orientation(ready.triangles, len(ready.points))
    for number in range(piece.max() + 1):
        members = np.flatnonzero(piece == number)
        corners = ready.points[ready.triangles[members]].reshape(-1, 3)
        inside = ((mesh.points >= corners.min(axis=0)) & (mesh.points <= corners.max(axis=0))).all(axis=1)
        if signed_volume(ready.points, ready.triangles[members]) > 0 and not inside.any():
            raise MeshError(
                f"the piece of the surface with triangle {members[0]} near {np.round(corners[0], 6).tolist()} is too "
                f"small or thin for tets of this size: it measures "
                f"{' x '.join(f'{side:.3g}' for side in np.ptp(corners, axis=0))} m; use a smaller size or remove it"
            )


def _check_quality(mesh: TetMesh, options: MeshingOptions) -> None:
    """Raise MeshError for a demand that is not met."""
    least = options.min_dihedral or (GUARANTEED if options.method == "lattice" else 0.0)
    angles = smallest_angles(mesh.points, mesh.tets)
    demands = [(angles, -1, least, "smallest dihedral angle", "degrees")]
    if options.max_volume is not None:
        demands.append((mesh.volumes, 1, options.max_volume, "volume", "m^3"))
    if options.max_radius_edge is not None:
        demands.append((mesh.quality().radius_edge, 1, options.max_radius_edge, "radius-edge ratio", ""))
    for values, sign, bound, what, unit in demands:
        worst = int((sign * values).argmax())
        if sign * values[worst] > sign * bound:
            place = np.round(mesh.points[mesh.tets[worst]].mean(axis=0), 6).tolist()
            wanted = "at least" if sign < 0 else "at most"
            raise MeshError(
                f"the mesh does not meet a demand: tet {worst} near {place} has a {what} of "
                f"{values[worst]:.4g} {unit}, {wanted} {bound:g} {unit} asked for"
            )
