"""The first GPU's memory, by the driver's own library: what is free, and a ballast that leaves a given part of it free."""

import ctypes
import subprocess
import sys
import time

GRANULE = 2 << 20  # what an allocation is rounded up to


class GpuMemory:
    """A context of this process, which stays; what the ballast holds goes with `release`."""

    def __init__(self):
        try:
            self.cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            sys.exit(f"there is no NVIDIA driver: {error}")
        self.blocks = []
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(text))
            raise MemoryError(f"{name} failed: {(text.value or b'?').decode()}")

    def free(self):
        """Bytes that nobody uses, as cudaMemGetInfo tells them."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def take(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self.blocks.append(address)

    def leave(self, wanted):
        """Takes all but `wanted` bytes, to less than a granule; what is free then comes back."""
        size = (self.free() - wanted) // GRANULE * GRANULE
        if size < 0:
            sys.exit(f"only {self.free()} bytes of the GPU are free, {wanted} are needed: end what else uses it")
        while size >= GRANULE:
            try:
                self.take(size)
            except MemoryError:
                size = size // 2 // GRANULE * GRANULE  # not in one piece
                continue
            size = (self.free() - wanted) // GRANULE * GRANULE
        return self.free()

    def release(self):
        while self.blocks:
            self.call("cuMemFree_v2", self.blocks.pop())

    def watch(self, command):
        """Runs a command to its end: its result, and the most that it used of the GPU at any moment that was looked at."""
        before = least = self.free()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                least = min(least, self.free())
                time.sleep(0.001)
            output, errors = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, output, errors), before - least
