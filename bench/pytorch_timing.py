"""Timing in PyTorch by the same policy as tilewright-measure: a CUDA graph of the op, replayed until the clock has
settled on it, then timed with events while the SM clock is read; results as sample lines (docs/samples.md)."""
import ctypes
import json
import statistics
import time

import torch

SETTLE_S = 0.3  # as long as the settled clock needs under the power cap (docs/measuring.md)
REPEAT_S = 0.02
REPEATS = 22  # 450 ms in all, as tilewright-measure keeps it: shorter windows fall into dips of the clock
STEP_SETTLE_S = 0.6  # the slow loop that holds the board to its cap dips about once a second; a step is timed over two dips
STEP_S = 2.0


class Nvml:
    """The SM clock, from the driver's library; 0 where it cannot be read."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libnvidia-ml.so.1")
            self.device = ctypes.c_void_p()
            if self.library.nvmlInit_v2() or self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)):
                self.library = None
        except OSError:
            self.library = None

    def sm_clock_mhz(self):
        clock = ctypes.c_uint()
        sm = 1
        if self.library is None or self.library.nvmlDeviceGetClockInfo(self.device, sm, ctypes.byref(clock)):
            return 0
        return clock.value


NVML = Nvml()


def part_of(items, part):
    """The items of part K of N, for `part` as in "1/4"."""
    index, count = (int(number) for number in part.split("/"))
    return list(items)[index - 1 :: count]


# Ops are made, warmed up and captured on one stream: autograd runs a backward pass on the stream of its forward pass.
STREAM = torch.cuda.Stream()


def capture(op):
    """A CUDA graph of one run of op, after runs that warm up libraries and compilers."""
    with torch.cuda.stream(STREAM):
        for _ in range(3):
            op()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=STREAM):
        graph.kept = op()  # results stay alive as long as the graph
    return graph


def replay_timed(graph, count):
    """Seconds of one replay over `count`, and the clock halfway."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(count):
        graph.replay()
    end.record()
    clock = NVML.sm_clock_mhz()
    end.synchronize()
    return start.elapsed_time(end) * 1e-3 / count, clock


def time_sustained(op, runs=1):
    """Times op, which does what is timed `runs` times; a dict of the sample members that a time brings."""
    graph = capture(op)
    once, _ = replay_timed(graph, 1)
    once, _ = replay_timed(graph, max(1, int(0.005 / max(once, 1e-6))))
    batch = max(1, int(REPEAT_S / once))
    replay_for(graph, batch, SETTLE_S)
    readings = [replay_timed(graph, batch) for _ in range(REPEATS)]
    return summary(readings, batch, runs, statistics.median)


def timed_step(op):
    """Times a training step as a long run sees it: the mean over some dips of the clock, where a median would leave them
    out."""
    graph = capture(op)
    once, _ = replay_timed(graph, 1)
    batch = max(1, int(4 * REPEAT_S / once))
    replay_for(graph, batch, STEP_SETTLE_S)
    return summary(replay_for(graph, batch, STEP_S), batch, 1, statistics.mean)


def replay_for(graph, batch, seconds):
    """The readings of batches until the time is over, at least one."""
    end = time.monotonic() + seconds
    readings = [replay_timed(graph, batch)]
    while time.monotonic() < end:
        readings.append(replay_timed(graph, batch))
    return readings


def summary(readings, batch, runs, middle):
    """The sample members of timed batches; `middle` is what makes one time of them."""
    times = [seconds * 1e6 / runs for seconds, _ in readings]
    time_us, clock = middle(times), middle([clock for _, clock in readings])
    return {
        "time_us": round(time_us, 3),
        "min_us": round(min(times), 3),
        "mad_us": round(statistics.median(abs(t - time_us) for t in times), 4),
        "repeats": len(readings),
        "launches": batch * runs,
        "clock_mhz": round(clock, 1),
        "cycles": round(time_us * clock, 1),
    }


def run_line():
    name = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + "-pytorch"
    facts = {
        "device": torch.cuda.get_device_name(),
        "pytorch": torch.__version__,
        "cuda_runtime": torch.version.cuda,
        "cudnn": str(torch.backends.cudnn.version()),
    }
    return name, {"schema": "tilewright.run/1", "run": name, "facts": facts}


class Writer:
    """Appends sample lines to a file as they come."""

    def __init__(self, path):
        self.file = open(path, "a", buffering=1)
        self.run, line = run_line()
        self.device = line["facts"]["device"]
        self.file.write(json.dumps(line) + "\n")

    def sample(self, op, sizes, make, tags=None, copies=1):
        """Times what make() returns, and where it is short `copies` of it in turn, each on tensors of its own: one after
        the other in a graph they are not bound by the host, and together they do not fit into L2."""
        line = {"schema": "tilewright.sample/1", "op": op, "sizes": sizes, "device": self.device, "clock": "sustained"}
        try:
            with torch.cuda.stream(STREAM):
                work = [make() for _ in range(copies)]
            line |= {"status": "ok"} | time_sustained(lambda: [one() for one in work], copies)
        except Exception as error:  # one op that PyTorch refuses must not end the run
            torch.cuda.synchronize()
            line |= {"status": "failed", "reason": str(error).splitlines()[0][:200]}
        line |= {"facts": {"library": "pytorch"} | ({"copies": copies} if copies > 1 else {}), "tags": tags or {}, "run": self.run}
        self.file.write(json.dumps(line) + "\n")
        return line
