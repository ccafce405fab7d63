"""Where kernels come from: a simulation has a device and asks it for compiled loops by subject.

`device.rows.row_rates` is `row_rates` of the module `rows` in the device's package, `device.linalg.pcg` a module of a
package in it. A module is imported when it is first asked for. What kernels take and give (named tuples, codes, the
layout of lanes) belongs to no device and lies beside the packages.
"""

from importlib import import_module

from pliant.errors import DeviceError


class Subjects:
    """The modules of a package of kernels as attributes."""

    def __init__(self, package: str):
        self._package = package

    def __getattr__(self, subject: str):
        if subject.startswith("_"):
            raise AttributeError(subject)
        place = f"{self._package}.{subject}"
        try:
            module = import_module(place)
        except ModuleNotFoundError as error:
            if error.name != place:
                raise
            raise AttributeError(f"{self._package} has no kernels for {subject!r}") from None
        found = Subjects(place) if hasattr(module, "__path__") else module
        setattr(self, subject, found)  # a plain attribute from now on
        return found


class Device(Subjects):
    """Where a simulation computes; kernels on host arrays are its attributes.

    Whatever the device, models are built and read on the host. A device whose states stay on it from step to step has
    programs of whole steps, which are the attributes of `resident`; otherwise that is None.
    """

    def __init__(self, name: str, resident: bool = False):
        super().__init__("pliant.kernels.cpu")
        self.name = name
        self.resident = Subjects(f"pliant.kernels.{name}") if resident else None

    def check(self) -> None:
        """Raise a DeviceError if it is not there."""
        if self.resident:
            self.resident.toolkit.find_gpu()

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def __reduce__(self):  # there is one of each name, also in copies of a model
        return device, (self.name,)


DEVICES = {"cpu": Device("cpu"), "cuda": Device("cuda", resident=True)}
# For what is not part of a simulation: pictures, patterns of matrices, problems that somebody else assembled.
HOST = DEVICES["cpu"]


def device(name: str) -> Device:
    """The device of that name."""
    if name not in DEVICES:
        raise ValueError(f"there is no device {name!r}; there are: {', '.join(DEVICES)}")
    return DEVICES[name]


def refuse_residents(name: str, what: str) -> None:
    """Raise a DeviceError for what is computed on the host alone, if another device is asked for."""
    if isinstance(name, str) and name in DEVICES and DEVICES[name].resident:
        raise DeviceError(f"device {name!r} does not do {what} yet; use device='cpu'")
