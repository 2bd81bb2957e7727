"""Files that other programs read: Gradescope, GitHub Classroom, CI, spreadsheets."""
