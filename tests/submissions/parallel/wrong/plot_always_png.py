# A PNG whatever the name of the file says.
# expect:
#   questions:
#     plot_times: {status: failed, checks: {bars: wrong_shape, error_bars: wrong_shape, labels: requirement_not_met, file: requirement_not_met}}

import matplotlib.pyplot as plt


def plot_times(means, stds, labels, path):
    fig, ax = plt.subplots()
    ax.bar(labels, means, yerr=stds)
    ax.set_ylabel("seconds")
    fig.savefig(path, format="png")
