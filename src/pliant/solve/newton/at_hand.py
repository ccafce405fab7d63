"""Compiled code that a scene needs when things first touch, loaded when its solver is made: in the midst of a run, a
step that has to wait for it takes ten times as long as others."""

from pliant.model.model import Model

# Kernels of anything that touches, of surfaces with solids, of surfaces with each other or themselves, of solids.
ROWS = (
    *("contacts.fill_contacts", "collide.sides.write_sides", "collide.bodies.closing", "rigid.spin_energies"),
    *("ahead.soften_rows", "ahead.evaluate_rows", "ahead.row_mismatch", "balance.row_errors"),
    *("rows.add_row_impulses", "rows.row_rates", "rows.row_response"),
    *("linalg.acting_rows.count_acting", "linalg.acting_rows.gather_acting", "linalg.row_diagonals.invert_touched"),
)
MIXED = (
    *("collide.mixed.nodes_against_shapes", "collide.mixed.triangles_against_solids"),
    *("collide.broad.members_near", "collide.advance.triangle_times"),
)
SURFACES = (
    "collide.surfaces.surface_contacts",
    *("collide.surfaces.contact_geometry", "collide.broad.leave_near"),
    *("collide.nearness.near_pairs", "collide.nearness.collect_pairs"),
    *("collide.continuous.impact_times", "collide.continuous.earliest_times"),
)
SOLIDS = ("collide.pairs.collide_pairs", "collide.pairs.collide_planes")


def load_contacts(model: Model) -> None:
    """Load what is kept on disk of the kernels that contacts of a model with soft bodies need, and import all of
    them."""
    colliders = model.colliders
    if not (model.may_touch and model.elements.sets):
        return
    names = ROWS
    names += MIXED if colliders.mixed else ()
    names += SURFACES if colliders.certificates else ()
    names += SOLIDS if len(colliders.solids.convex) > 1 else ()
    for name in names:
        *subjects, kernel = name.split(".")
        found = model.device
        for subject in subjects:
            found = getattr(found, subject)
        getattr(found, kernel).load_kept()
