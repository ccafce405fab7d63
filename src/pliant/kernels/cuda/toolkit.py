"""Numba's CUDA, imported with care, and what there is on this machine: the GPU, its driver, versions."""

import importlib
from dataclasses import asdict, dataclass

import numpy as np
from numba import config

from pliant.errors import DeviceError

# Oldest compute capability: cooperative launches, and float64 shuffles that pay.
LEAST_CAPABILITY = (7, 0)
# Oldest driver, as CUDA counts versions: that of CUDA 12, or of the CUDA that the compiler is of.
LEAST_DRIVER = 12000
EXTRA = 'pip install "pliant[cuda]"'


@dataclass(frozen=True)
class Gpu:
    """What was found: memory in bytes, of which `free` is not in use; shared: bytes of a block; driver: CUDA's number
    for the version that it knows, 1000 major + 10 minor."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int
    free: int
    shared: int
    driver: int
    numba_cuda: str

    def report(self) -> dict:
        """The same for JSON."""
        return asdict(self)


def load_cuda():
    """Numba's module `cuda`; a DeviceError says what is missing."""
    # numba-cuda 0.30 still looks up what NumPy 2.5 removed
    vars(np).setdefault("row_stack", np.vstack)
    try:
        importlib.import_module("numba_cuda")
        cuda = importlib.import_module("numba.cuda")
    except ImportError as error:
        raise DeviceError(f"device 'cuda' needs the extra `cuda` ({error}); install it with {EXTRA}") from None
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # small kernels are part of every step
    return cuda


def find_gpu() -> Gpu:
    """The GPU that will be used; a DeviceError says why there is none."""
    cuda = load_cuda()
    if not cuda.is_available():
        raise DeviceError(f"device 'cuda' needs an NVIDIA GPU and its driver, and none was found ({_trouble(cuda)})")
    from cuda.bindings import driver

    device = cuda.get_current_device()
    free, memory = (int(part) for part in cuda.current_context().get_memory_info())
    version = int(driver.cuDriverGetVersion()[1])
    attribute = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    shared = int(driver.cuDeviceGetAttribute(attribute, int(device.id))[1])
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    capability = tuple(int(part) for part in device.compute_capability)
    toolkit = 1000 * int(importlib.import_module("cuda.bindings").__version__.split(".")[0])
    found = Gpu(name, capability, device.MULTIPROCESSOR_COUNT, memory, free, shared, version, _version())
    check_gpu(found, max(LEAST_DRIVER, toolkit))
    return found


def check_gpu(gpu: Gpu, least_driver: int = LEAST_DRIVER) -> None:
    """Refuse a GPU or a driver that is too old."""
    if gpu.driver < least_driver:
        raise DeviceError(
            f"the driver of {gpu.name} knows CUDA {version_text(gpu.driver)}; device 'cuda' needs one that knows at "
            f"least CUDA {version_text(least_driver)}"
        )
    if gpu.capability < LEAST_CAPABILITY:
        raise DeviceError(
            f"{gpu.name} has compute capability {'.'.join(map(str, gpu.capability))}; device 'cuda' needs at least "
            f"{'.'.join(map(str, LEAST_CAPABILITY))}"
        )


def version_text(number: int) -> str:
    """CUDA's number for a version in words: 12040 is 12.4."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _version() -> str:
    return importlib.import_module("numba_cuda").__version__


def _trouble(cuda) -> str:
    """Why CUDA cannot be used, in its own words."""
    try:
        cuda.get_current_device()
    except Exception as error:  # whatever the driver or its absence makes of it
        return " ".join(str(error).split())[:200] or type(error).__name__
    return "the compiler NVVM is not there"
