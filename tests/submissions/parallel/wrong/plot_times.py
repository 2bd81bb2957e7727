# Wrong ways to write plot_times. docs/authoring.md explains the cells.

import matplotlib.pyplot as plt


# %% plot_always_png
# A PNG whatever the name of the file says.
# expect:
#   questions:
#     plot_times: {status: partial, checks: {bars: wrong_shape, error_bars: wrong_shape, labels: requirement_not_met, file: requirement_not_met}}

def plot_times(means, stds, labels, path):
    fig, ax = plt.subplots()
    ax.bar(labels, means, yerr=stds)
    ax.set_ylabel("seconds")
    fig.savefig(path, format="png")


# %% plot_always_svg
# Saves an SVG whatever the name ends in.
# expect:
#   questions:
#     plot_times: {status: partial, checks: {bars: ok, error_bars: ok, labels: ok, file: wrong_value}}

def plot_times(means, stds, labels, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.bar(range(len(means)), means, yerr=stds)
    axes.set_xticks(range(len(means)), labels)
    axes.set_ylabel("seconds")
    figure.savefig(path, format="svg")


# %% plot_axis_without_a_name
# Nothing says what is measured.
# expect:
#   questions:
#     plot_times: {status: partial, checks: {file: ok, bars: ok, error_bars: ok, labels: wrong_value}}

def plot_times(means, stds, labels, path):
    fig, ax = plt.subplots()
    ax.bar(labels, means, yerr=stds)
    fig.savefig(path)


# %% plot_half_the_error
# Error bars of half the length.
# expect:
#   questions:
#     plot_times: {status: partial, checks: {file: ok, bars: ok, error_bars: wrong_value, labels: ok}}

def plot_times(means, stds, labels, path):
    plt.figure()
    plt.bar(labels, means, yerr=[std / 2 for std in stds])
    plt.ylabel("seconds")
    plt.savefig(path)


# %% plot_not_saved
# Draws, and saves nothing.
# expect:
#   questions:
#     plot_times: {status: failed, checks: {bars: wrong_shape, error_bars: wrong_shape, labels: requirement_not_met, file: requirement_not_met}}

def plot_times(means, stds, labels, path):
    plt.bar(labels, means, yerr=stds)
    plt.ylabel("seconds")
    plt.show()


# %% plot_without_error_bars
# Bars without error bars.
# expect:
#   questions:
#     plot_times: {status: partial, checks: {file: ok, bars: ok, error_bars: wrong_shape, labels: ok}}

def plot_times(means, stds, labels, path):
    fig, ax = plt.subplots()
    ax.bar(range(len(means)), means)
    ax.set_xticks(range(len(means)))
    ax.set_xticklabels(labels)
    ax.set_ylabel("seconds")
    fig.savefig(path)
