# Draws, and saves nothing.
# expect:
#   questions:
#     plot_times: {status: failed, checks: {bars: wrong_shape, error_bars: wrong_shape, labels: requirement_not_met, file: requirement_not_met}}

import matplotlib.pyplot as plt


def plot_times(means, stds, labels, path):
    plt.bar(labels, means, yerr=stds)
    plt.ylabel("seconds")
    plt.show()
