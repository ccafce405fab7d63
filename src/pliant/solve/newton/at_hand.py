"""Compiled code that a scene needs when things first touch, loaded when its solver is made: in the midst of a run, a
step that has to wait for it takes ten times as long as others."""

from pliant.model.model import Model

# Kernels of anything that touches, of surfaces with solids, of surfaces with each other or themselves, of solids.
ROWS = (
    *(
        "contacts.fill_contacts",
        "contacts.find_ends",
        "collide.sides.write_sides",
        "collide.bodies.closing",
        "rigid.spin_energies",
    ),
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
    *("collide.nearness.near_pairs", "collide.nearness.collect_pairs", "collide.nearness.keep_pairs"),
    *("collide.continuous.impact_times", "collide.continuous.earliest_times"),
)
PATCHES = (
    *("collide.flatness.prove_flat", "collide.patches.fit_patches"),
    *("collide.patches.near_patches", "collide.patches.collect_patches", "collide.patches.near_in_patches"),
)
SOLIDS = ("collide.pairs.collide_pairs", "collide.pairs.collide_planes")
# What sheets need in every step of bounded cost, touching or not: these are for what runs in real time.
SHEETS = (
    *("rigid.predict_bodies", "rigid.integrate_bodies", "balance.mass_blocks", "turning.bend"),
    *("turning.leave_turns_out", "cloth.deform_triangles", "cloth.damp_triangles", "cloth.pack_triangle_damping"),
    *("cloth.triangle_stiffness", "bending.fold_frames", "bending.evaluate_bending", "bending.damp_bending"),
    *("hyperelastic.gather_nodes", "balance.inertia_terms", "balance.rounding_energy", "balance.rounding_square"),
    *("balance.balance_weights", "balance.balance_squares", "linalg.triples.multiply_diagonal"),
    *("linalg.triples.quadratic_diagonal", "linalg.triples.dot", "linalg.folds.weigh_folds", "linalg.folds.sum_folds"),
    *("linalg.folds.fill_folds", "linalg.folds.add_fold_diagonals", "linalg.sliced.gather_sums"),
    *("linalg.sliced.fill_slices", "linalg.sliced.invert_diagonals", "linalg.sliced.local_square"),
    *("linalg.sliced.largest", "linalg.sliced.pack_free", "linalg.sliced.unpack", "linalg.pcg.solve_pcg"),
    *("linalg.pcg.multiply", "linalg.pcg.dot_slices", "linalg.two_level.place_arms", "linalg.descent.descend"),
    *("linalg.two_level.add_coarse_matrix", "linalg.envelope.factorise_envelope", "linalg.two_level.add_coarse_rows"),
    *("table.count_rows", "collide.bodies.shape_frames", "collide.bodies.body_boxes", "collide.broad.boxes_of_things"),
    *("collide.broad.boxes_meet", "collide.mixed.triangles_against_spheres", "collide.misfit.largest_misfit"),
    *("collide.mixed.mark_spared", "collide.surfaces.least_distance", "contacts.match_points"),
)


def load_contacts(model: Model) -> None:
    """Load what is kept on disk of the kernels that contacts of a model with soft bodies need, and import all of
    them."""
    colliders = model.colliders
    if not (model.may_touch and model.elements.sets):
        return
    names = ROWS
    names += MIXED if colliders.mixed else ()
    names += SURFACES if colliders.certificates else ()
    names += PATCHES if colliders.certificates and colliders.meshed.surfaces.sheets else ()
    names += SOLIDS if len(colliders.solids.convex) > 1 else ()
    _load(model, names)


def load_sheets(model: Model) -> None:
    """The same of what steps of bounded cost need for sheets."""
    _load(model, SHEETS)


def _load(model: Model, names: tuple[str, ...]) -> None:
    for name in names:
        *subjects, kernel = name.split(".")
        found = model.device
        for subject in subjects:
            found = getattr(found, subject)
        getattr(found, kernel).load_kept()
