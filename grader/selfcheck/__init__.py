"""The student's own check: public cases that travel with the starter, judged as grading judges."""
