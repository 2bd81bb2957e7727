"""``python -m grader`` is the command ``grader``, where its script is not on the path."""

from grader.cli.command import main

if __name__ == "__main__":
    main()
