"""A class of submissions: finding them in a folder, grading them side by side, one gradebook."""
