"""How long the GPU is busy in a step, and with which kernels, by torch.profiler. The profiler stays
loaded in its process and may slow launches there, so that bench/stopwatch.py does this in a run of its own (`--busy`)."""

NOT_KERNELS = ("ProfilerStep", "Optimizer.", "Context Sync", "Stream Wait", "Stream Sync", "Event Sync", "Event Record")


def kernels_of(gpu, run):
    """GPU time of `run` in seconds, and its kernels by name: [name, count, seconds]."""
    from torch.autograd import DeviceType
    profiler = gpu.torch.profiler
    gpu.wait()
    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as profile:
        run()
        gpu.wait()
    intervals, table = [], {}
    for event in profile.profiler.kineto_results.events():
        if event.device_type() != DeviceType.CUDA or event.name().startswith(NOT_KERNELS):
            continue
        start, length = event.start_ns(), event.duration_ns()
        intervals.append((start, start + length))
        row = table.setdefault(event.name()[:160], [0, 0.0])
        row[0] += 1
        row[1] += length * 1e-9
    return busy_time(intervals) * 1e-9, table


def busy_time(intervals):
    """The length of the union of intervals."""
    total = reached = 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def take_busy(gpu, long, short, steps):
    """Busy time and kernels of one step: what `long` runs less what `short` does, over `steps`."""
    busy, table = kernels_of(gpu, long)
    if short is not None:
        less, shorter = kernels_of(gpu, short)
        busy -= less
        for name, (count, seconds) in shorter.items():
            row = table.setdefault(name, [0, 0.0])
            row[0] -= count
            row[1] -= seconds
    rows = sorted(([name, round(count / steps, 2), round(seconds / steps, 9)] for name, (count, seconds) in table.items() if count),
                  key=lambda row: -row[2])
    return {"gpu_busy_s": busy / steps, "launches": sum(row[1] for row in rows), "kernels": rows}


def busy_of_steps(gpu, step):
    for _ in range(3):
        step()

    def twice():
        step()
        step()

    return take_busy(gpu, twice, None, 2)


def busy_of_generate(gpu, run):
    run(4)
    return take_busy(gpu, lambda: run(8), lambda: run(4), 4)
