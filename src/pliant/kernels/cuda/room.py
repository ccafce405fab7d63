"""The room of a GPU's arrays and of the work on them: a stream, graphs of launches, copies.

Arrays are made once and never move, so graphs of launches stay good; nothing is allocated during steps. All copies,
zeros too, go by one stream: another one's might arrive after what is written later.
"""

from time import perf_counter

import numpy as np
from cuda.bindings import driver
from numba import cuda

from pliant.errors import DeviceError


def checked(answer):
    """What a call of the driver returns, without its error code."""
    error, *rest = answer
    if error != driver.CUresult.CUDA_SUCCESS:
        raise DeviceError(f"the CUDA driver reports {error.name}")
    return rest[0] if len(rest) == 1 else rest


class Room:
    """One simulation's arrays on the GPU."""

    def __init__(self):
        cuda.current_context()
        self._stream = checked(driver.cuStreamCreate(int(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)))
        self.stream = cuda.external_stream(int(self._stream))
        self.device_id = int(cuda.get_current_device().id)
        self.bytes = 0
        self._graphs, self._lent, self._stages, self._packs, self.moved = [], {}, {}, {}, 0

    def __del__(self):
        for graph in getattr(self, "_graphs", []):
            driver.cuGraphExecDestroy(graph)
        if hasattr(self, "_stream"):
            driver.cuStreamDestroy(self._stream)

    def put(self, array: np.ndarray, dtype=None, flat: bool = True):
        """A copy of a host array, flat or as it is."""
        host = np.ascontiguousarray(array if dtype is None else np.asarray(array).astype(dtype))
        host = host.ravel() if flat else host
        self.bytes += host.nbytes
        found = cuda.device_array(host.shape, host.dtype, stream=self.stream)
        if host.size:
            self.write(found, host)
        return found

    def zeros(self, count: int, dtype):
        """So many zeros."""
        found = cuda.device_array(count, dtype, stream=self.stream)
        self.bytes += found.nbytes
        if count:
            self.clear(found)
        return found

    def lend(self, name: str, array: np.ndarray, dtype):
        """A copy of a host array at the beginning of an array that all of this name use, one after the other."""
        host = np.ascontiguousarray(array, dtype=dtype).ravel()
        found = self.reserve(name, host.size, dtype)
        self.write(found, host)
        return found

    def stage(self, name: str, array: np.ndarray, dtype):
        """The same by way of pinned host memory, which is quicker; the last copy of this name must be over."""
        found, staged = self.reserve(name, array.size, dtype), self._staged(name, array.size, dtype)
        np.copyto(staged.reshape(array.shape), array, casting="same_kind" if array.dtype.kind == "f" else "unsafe")
        self.write(found, staged)
        return found

    def pack(self, name: str, arrays: dict[str, np.ndarray], dtype) -> dict:
        """Copies of several host arrays as parts of one array of this name, in one copy by way of pinned memory; the
        last one must be over. Parts stay where they are until one must grow."""
        room, parts = self._packs.get(name, ({}, {}))
        if any(room.get(part, 0) < max(array.size, 1) for part, array in arrays.items()):
            grown = {part: max(-(-array.size // 4) * (8 if part in room else 4), 4) for part, array in arrays.items()}
            room = {part: max(room.get(part, 0), grown[part]) for part in arrays}
            whole, parts, first = self.reserve(name, sum(room.values()), dtype), {}, 0
            for part, size in room.items():
                parts[part], first = whole[first : first + size], first + size
            self._packs[name] = room, parts
            self.moved += 1
        staged, first = self._staged(name, sum(room.values()), dtype), 0
        for part, array in arrays.items():
            staged[first : first + array.size] = array.ravel()
            first += room[part]
        self.write(self._lent[name], staged)
        return parts

    def unstage(self, name: str, count: int, dtype) -> np.ndarray:
        """Queues a copy of the first numbers of the array of this name to pinned host memory; that memory."""
        staged = self._staged(name, count, dtype)
        self.read(self._lent[name], staged)
        return staged

    def _staged(self, name: str, count: int, dtype) -> np.ndarray:
        """So many numbers of the pinned memory of a name."""
        need = count * np.dtype(dtype).itemsize
        if name not in self._stages or self._stages[name].nbytes < need:
            self._stages[name] = cuda.pinned_array(2 * need, np.uint8)
        return self._stages[name][:need].view(dtype)

    def reserve(self, name: str, count: int, dtype):
        """The array that all of this name use, of at least so many numbers."""
        found = self._lent.get(name)
        if found is None or found.size < count:
            found = self._lent[name] = self.zeros(2 * count, dtype)
            self.moved += 1  # graphs with the old one are no good any more
        return found

    def clear(self, target) -> None:
        """Queues zeros into an array."""
        address = target.__cuda_array_interface__["data"][0]
        checked(driver.cuMemsetD8Async(address, 0, target.nbytes, self._stream))

    def address(self, array) -> int:
        """Where an array lies."""
        return array.__cuda_array_interface__["data"][0]

    def pinned(self, count: int) -> np.ndarray:
        """Host numbers (float64) that the GPU reads and writes without a detour."""
        array = cuda.pinned_array(count, np.float64)
        array[:] = 0.0
        return array

    def write(self, target, source: np.ndarray, count: int | None = None) -> None:
        """Queues a copy of host numbers to the beginning of an array; a pinned source is read when it runs."""
        nbytes = source.itemsize * (source.size if count is None else count)
        address = target.__cuda_array_interface__["data"][0]
        checked(driver.cuMemcpyHtoDAsync(address, source.ctypes.data, nbytes, self._stream))

    def read(self, source, target: np.ndarray) -> None:
        """Queues a copy of an array to host numbers."""
        address = source.__cuda_array_interface__["data"][0]
        checked(driver.cuMemcpyDtoHAsync(target.ctypes.data, address, target.nbytes, self._stream))

    def download(self, source) -> np.ndarray:
        """An array's numbers on the host, once all work is done."""
        found = np.empty(source.shape, source.dtype)
        self.read(source, found)
        self.wait()
        return found

    def copy_time(self, size: int) -> float:
        """Time [s] of a copy of so many bytes within the GPU: the median of several."""
        first, second = (cuda.device_array(size, np.uint8, stream=self.stream) for _ in range(2))
        places = [array.__cuda_array_interface__["data"][0] for array in (first, second)]
        times = []
        for _ in range(7):
            self.wait()
            start = perf_counter()
            for _ in range(4):
                checked(driver.cuMemcpyDtoDAsync(*places, size, self._stream))
            self.wait()
            times.append((perf_counter() - start) / 4)
        return float(np.median(times[1:]))

    def wait(self) -> None:
        """Until all work is done."""
        checked(driver.cuStreamSynchronize(self._stream))

    def capture(self, work):
        """The launches and copies that a function queues, as a graph."""
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        checked(driver.cuStreamBeginCapture(self._stream, mode))
        try:
            work()
        finally:
            graph = checked(driver.cuStreamEndCapture(self._stream))
        ready = checked(driver.cuGraphInstantiate(graph, 0))
        checked(driver.cuGraphDestroy(graph))
        checked(driver.cuGraphUpload(ready, self._stream))  # or its first launch would take longer
        self._graphs.append(ready)
        return ready

    def prepare(self, kernel, arguments: tuple, shared: int) -> None:
        """Compiles a kernel for arguments, and lets it have up to so many bytes of shared memory for a block."""
        kernel.compile(tuple(kernel.typeof_pyval(value) for value in arguments))
        allow_shared(kernel, shared)

    def launch(self, graph) -> None:
        """Queues a graph."""
        checked(driver.cuGraphLaunch(graph, self._stream))


def allow_shared(kernel, size: int) -> None:
    """Let a kernel that is compiled have so many bytes of shared memory for a block."""
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    for compiled in kernel.overloads.values():
        handle = compiled._codelibrary.get_cufunc().handle
        answer = driver.cuKernelSetAttribute(attribute, size, handle, 0)
        if answer[0] != driver.CUresult.CUDA_SUCCESS:
            checked(driver.cuFuncSetAttribute(handle, attribute, size))
