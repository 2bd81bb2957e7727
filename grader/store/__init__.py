"""What is kept on disk, and how it is written so that no half file is ever seen."""
