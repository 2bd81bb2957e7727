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
