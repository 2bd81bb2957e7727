"""Runs beside the submission, on GPUs that are watched. What it says scores on real ones alone."""

from __future__ import annotations

from grader.student_process.api import logged, placement, watching


def multiplied(student, x, w):
    """Multiply on a GPU, and write down what is computed."""
    with logged() as log:
        for name, leaf in {"x": x, "w": w}.items():
            log.leaf(name, leaf)
        log.begin("work", "x", "w")
        with watching() as seen:
            product = student.mm_on_gpu(x, w)
        log.end("work", product)
    claims = {"work": seen.report, "placement": placement(None, product)}
    return {
        "product": product,
        "log": log.as_values(),
        "claims": {} if log else claims,
    }
