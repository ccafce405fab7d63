"""All joints by the names they have in scene files."""

from pliant.scene import couplings, joints
from pliant.scene.joint_options import JointOptions


def _known(module) -> list[type[JointOptions]]:
    """The joints of a module in the order of its text; classes that others are made of are none."""
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    return [kind for kind in classes if issubclass(kind, JointOptions) and not kind.__subclasses__()]


JOINTS = {kind.kind_name(): kind for module in (joints, couplings) for kind in _known(module)}
