#!/usr/bin/env bash
# Grades /autograder/submission and leaves results/results.json.
set -euo pipefail
root="${AUTOGRADER:-/autograder}"
grader="${GRADER:-$root/source/.venv/bin/grader}"
cd "$root/source"
export TORCHGRADE_LANG=@LANGUAGE@
# 1 means that the grader itself failed in places. What it wrote then holds no score, so that
# Gradescope shows a failed autograder and nobody a zero.
"$grader" on-gradescope @ID@ "$root" --isolation @ISOLATION@ || [ $? -eq 1 ]
