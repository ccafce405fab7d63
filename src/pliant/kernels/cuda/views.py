"""Arrays of a GPU for other libraries, without a detour: `__cuda_array_interface__` and DLPack."""

import ctypes
from dataclasses import dataclass

# DLPack's numbers: memory of a CUDA device, floating point.
CUDA_MEMORY, FLOAT = 2, 2
NAME, USED = b"dltensor", b"used_dltensor"


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    """DLManagedTensor: with who is to be told when it is not needed any more."""

    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_HELD: dict[int, tuple] = {}  # by address, what a tensor that was given away needs
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, _Destructor)
_is_valid, _pointer = ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p)
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)


@_Deleter
def _forget(address):
    _HELD.pop(address, None)


@_Destructor
def _drop(capsule):
    """A capsule that nobody took."""
    if _is_valid(capsule, NAME):
        _HELD.pop(_pointer(capsule, NAME), None)


@dataclass(frozen=True)
class DeviceArray:
    """Numbers (n, 3) float64 at an address of a GPU; owner: what keeps them there."""

    address: int
    shape: tuple[int, int]
    owner: object
    device_id: int = 0
    device_type: int = CUDA_MEMORY

    @property
    def __cuda_array_interface__(self) -> dict:
        return {"shape": self.shape, "typestr": "<f8", "data": (self.address, False), "strides": None, "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_type, self.device_id

    def __dlpack__(self, *, stream=None, **options):
        """A capsule of DLPack; all work on the numbers is done, whatever the stream."""
        shape = (ctypes.c_int64 * len(self.shape))(*self.shape)
        strides = (ctypes.c_int64 * len(self.shape))(self.shape[1], 1)
        tensor = _Tensor(self.address, self.device_type, self.device_id, 2, FLOAT, 64, 1, shape, strides, 0)
        managed = _Managed(tensor, None, ctypes.cast(_forget, ctypes.c_void_p))
        address = ctypes.addressof(managed)
        _HELD[address] = (managed, shape, strides, self.owner)
        return _new(address, NAME, _drop)

    def rows(self, first: int, last: int) -> "DeviceArray":
        """A part of the rows."""
        return DeviceArray(self.address + 24 * first, (last - first, 3), self.owner, self.device_id, self.device_type)


@dataclass(frozen=True)
class OnDevice:
    """Positions [m] and velocities [m/s] of nodes (n, 3) on a GPU; the next such view of a simulation overwrites
    them."""

    positions: DeviceArray
    velocities: DeviceArray
