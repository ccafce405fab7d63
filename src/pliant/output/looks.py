"""What a user may say of a picture: its size, and where its camera stands."""

from pliant.checks import refusal, vector, whole


def checked_size(size) -> tuple[int, int]:
    """Width and height of a picture in pixels."""
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise refusal("size", "(width, height) in pixels", size)
    return tuple(whole(length, f"size[{k}]", 16, 8192) for k, length in enumerate(size))


def eye_and_target(camera) -> tuple:
    """Where a camera stands and looks [m], None for what is left to choose."""
    if camera is None:
        return None, None
    if isinstance(camera, dict):
        given = camera if not set(camera) - {"eye", "target"} else None
    else:
        given = {key: getattr(camera, key) for key in ("eye", "target") if hasattr(camera, key)} or None
    if given is None:
        raise refusal("camera", "something with eye and target, such as dict(eye=(x, y, z), target=(x, y, z))", camera)
    places = (given.get(key) for key in ("eye", "target"))
    return tuple(None if at is None else vector(at, f"camera {key}") for key, at in zip(("eye", "target"), places))
