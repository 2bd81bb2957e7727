# Returns the split size with the greatest mean.
# expect:
#   questions:
#     best_split_size: {status: partial, checks: {best: wrong_value, timings: ok, repeats: ok}}

def best_split_size(candidates, repeats=10):
    times = {size: time_training(lambda: PipelineParallelResNet50(size), repeats) for size in candidates}
    return max(times, key=times.get), times
