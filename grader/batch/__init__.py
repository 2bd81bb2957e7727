"""A class of hand-ins: finding them in a folder, grading them side by side, one gradebook."""
