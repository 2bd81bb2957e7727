# Wrong ways to write best_split_size. docs/authoring.md explains the cells.


# %% best_default_repeats
# Forgets to hand repeats on.
# expect:
#   questions:
#     best_split_size: {status: partial, checks: {best: ok, timings: ok, repeats: wrong_value}}

def best_split_size(candidates, repeats=10):
    times = {size: time_training(lambda: PipelineParallelResNet50(size)) for size in candidates}
    return min(times, key=times.get), times


# %% best_is_the_slowest
# Returns the split size with the greatest mean.
# expect:
#   questions:
#     best_split_size: {status: partial, checks: {best: wrong_value, timings: ok, repeats: ok}}

def best_split_size(candidates, repeats=10):
    times = {size: time_training(lambda: PipelineParallelResNet50(size), repeats) for size in candidates}
    return max(times, key=times.get), times


# %% best_last_of_equals
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


# %% best_stops_early
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
