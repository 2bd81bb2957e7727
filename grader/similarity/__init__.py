"""Which submissions of a class look alike, for a person to look at. Off unless asked for.

Fingerprints are those of `copydetect <https://github.com/blingenf/copydetect>`_, over the tokens of
each submission rather than over its characters: names of variables, comments, docstrings, spaces
and the order of functions make no difference. What the starter gives does not count, nor what a
good part of the class has written alike.
"""
