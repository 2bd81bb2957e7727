# Stops at the first split size that is slower than the one before.
# expect:
#   questions:
#     best_split_size: {status: partial, checks: {best: ok, timings: wrong_type, repeats: requirement_not_met}}

def best_split_size(candidates, repeats=10):
    times, best = {}, candidates[0]
    for size in candidates:
        times[size] = time_training(lambda: PipelineParallelResNet50(size), repeats)
        if times[size][0] > times[best][0]:
            break
        best = size
    return best, times
