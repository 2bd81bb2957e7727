# Forgets to hand repeats on.
# expect:
#   questions:
#     best_split_size: {status: partial, checks: {best: ok, timings: ok, repeats: wrong_value}}

def best_split_size(candidates, repeats=10):
    times = {size: time_training(lambda: PipelineParallelResNet50(size)) for size in candidates}
    return min(times, key=times.get), times
