#!/usr/bin/env bash
# autograde.sh HAND_IN: grades a checkout; leaves result.json and release-body.md in the folder that
# it is called in. The names of classroom, assignment and commit come from the job's environment.
# Ends with 1 if the grader itself failed: the job is then run again, and nobody has a zero.
set -euo pipefail
hand_in="$(cd "${1:?the folder that was handed in}" && pwd)"
results="$PWD"
grader="${GRADER:-grader}"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
cd "$(dirname "$0")"
export TORCHGRADE_LANG=@LANGUAGE@
"$grader" grade @ID@ "$hand_in" --out "$out" --isolation @ISOLATION@
"$grader" export classroom50 "$out" --out "$results"
