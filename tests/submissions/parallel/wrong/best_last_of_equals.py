# Of equal means the last.
# expect:
#   questions:
#     best_split_size: {status: partial, checks: {best: wrong_value, timings: ok, repeats: ok}}

def best_split_size(candidates, repeats=10):
    times, best = {}, None
    for size in candidates:
        times[size] = time_training(lambda: PipelineParallelResNet50(split_size=size), repeats)
        if best is None or times[size] <= times[best]:
            best = size
    return best, times
