"""The workflow of GitHub Actions in a packed repository: a class, graded in one dispatch.

The first job fetches the repositories of a class and grades them on GitHub's own machines. The
second, on a runner with a GPU, grades what waits for one; it gets the very bytes that the first
graded, and never the token that may read students' repositories.

Defends against: actions that change behind their tag (each is pinned to a commit); a token left in
a checkout; links in a repository that lead to files of the runner; names of repositories that are
options or commands.
Does not defend against: whoever may change this repository.
"""

from __future__ import annotations

from grader.authoring.requirements import CPU_INDEX, Requirements

LISTING = "class.txt"
"""Names of the students' repositories, where a dispatch names none."""

_LISTING = """\
# The repositories of the class, owner/name, one a line. A dispatch that names none grades these.
"""

_WORKFLOW = """\
# Grades a class. The reference is in this repository: students must not be able to read it.
# The secret HAND_INS is a token that may read the students' repositories, and nothing else.
name: grade @ID@
on:
  workflow_dispatch:
    inputs:
      repositories:
        description: "owner/name of each repository, with spaces between; empty: all in @LISTING@"
        type: string
        default: ""
      gpu:
        description: "Grade what waits for a GPU on your own runner, too"
        type: boolean
        default: false
permissions:
  contents: read
concurrency:
  group: grade-@ID@
defaults:
  run:
    shell: bash
jobs:
  cpu:
    runs-on: ubuntu-latest
    timeout-minutes: 180
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - uses: actions/setup-python@a309ff8b426b58ec0e2a45f0f869d46889d02405 # v6.2.0
        with:
          python-version: "@PYTHON@"
          cache: pip
          cache-dependency-path: constraints.txt
      - name: Install the grader, with torch for the CPU
        # From that index torch alone: what it needs comes from the usual one, as pinned.
        run: |
          python -m pip install --no-deps --index-url @INDEX@ torch==@TORCH@
          python -m pip install --constraint constraints.txt @PACKAGES@
      - name: Fetch the class
        env:
          REPOSITORIES: ${{ inputs.repositories }}
          TOKEN: ${{ secrets.HAND_INS }}
        run: |
          # In the environment of git, and not in any file that it leaves.
          export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.$GITHUB_SERVER_URL/.extraheader"
          key="$(printf 'x-access-token:%s' "$TOKEN" | base64 --wrap=0)"
          echo "::add-mask::$key"
          export GIT_CONFIG_VALUE_0="AUTHORIZATION: basic $key"
          export GIT_TERMINAL_PROMPT=0 GIT_LFS_SKIP_SMUDGE=1
          set -f
          : > submissions.txt
          for name in ${REPOSITORIES:-$(sed 's/#.*//' @LISTING@)}; do
            if ! [[ "$name" =~ ^[A-Za-z0-9_-]+/[A-Za-z0-9_.-]+$ ]]; then
              echo "::error::“$name” is no owner/name of a repository"
              exit 1
            fi
            folder="submissions/${name#*/}"
            if [ -e "$folder" ]; then
              echo "::error::two repositories are called ${name#*/}; grade them one after the other"
              exit 1
            fi
            if git clone --quiet --depth 1 -- "$GITHUB_SERVER_URL/$name" "$folder"; then
              find "$folder" -type l -delete
              echo "$folder" >> submissions.txt
            else
              rm -rf "$folder"
              echo "::warning::$name could not be fetched and is not graded"
            fi
          done
      - name: Grade
        run: grader batch @ID@ submissions.txt --out graded --isolation @ISOLATION@
      - name: Show the scores
        if: ${{ !cancelled() }}
        run: |
          grader export summary graded --out summary.md
          cat summary.md >> "$GITHUB_STEP_SUMMARY"
      - uses: actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0
        if: ${{ !cancelled() }}
        with:
          name: graded-cpu
          path: |
            graded
            submissions
            submissions.txt
  gpu:
    if: ${{ inputs.gpu }}
    needs: cpu
    runs-on: [self-hosted, gpu]
    timeout-minutes: 360
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - uses: actions/setup-python@a309ff8b426b58ec0e2a45f0f869d46889d02405 # v6.2.0
        with:
          python-version: "@PYTHON@"
      - uses: actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1
        with:
          name: graded-cpu
      - name: Install the grader, with torch for CUDA
        # Of its own for each run. What pip downloads stays in the runner's cache.
        run: |
          python -m venv "$RUNNER_TEMP/grader"
          "$RUNNER_TEMP/grader/bin/python" -m pip install --constraint constraints.txt @PACKAGES@
          echo "$RUNNER_TEMP/grader/bin" >> "$GITHUB_PATH"
      - name: Grade what waits for a GPU
        run: >-
          grader batch @ID@ submissions.txt --out on_gpu
          --device cuda --isolation @ISOLATION@ --only-pending graded
      - name: Merge the points
        # Ends with 1 if points waited for a GPU and none of them was completed.
        run: grader merge graded on_gpu
      - name: Show the scores
        if: ${{ !cancelled() }}
        run: |
          grader export summary graded --out summary.md
          cat summary.md >> "$GITHUB_STEP_SUMMARY"
      - uses: actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0
        if: ${{ !cancelled() }}
        with:
          name: graded
          path: graded
"""


def workflow_files(assignment: str, isolation: str, needs: Requirements) -> dict[str, bytes]:
    """Return path → content of what GitHub Actions needs beside the program and the assignment.

    Args:
        assignment: Its id.
        isolation: Tier that is insisted on there.
        needs: What the jobs install, and under which Python.
    """
    text = _WORKFLOW
    for blank, value in (
        ("@ID@", assignment),
        ("@ISOLATION@", isolation),
        ("@PYTHON@", needs.python),
        ("@TORCH@", needs.torch),
        ("@INDEX@", CPU_INDEX),
        ("@PACKAGES@", " ".join(needs.packages)),
        ("@LISTING@", LISTING),
    ):
        text = text.replace(blank, value)
    return {".github/workflows/grade.yml": text.encode(), LISTING: _LISTING.encode()}
