"""Static pages: one of a class, and two of each submission, for staff and for its student.

Each is one file that opens from a disk without a network: styles, scripts and pictures are in it.

Defends against: markup, scripts and odd characters in names, messages, paths and sources (all text
is escaped, a content security policy runs only the page's own script and loads nothing); a picture
that carries a script (it is shown as an image, where none runs); a student's page that gives away
what is hidden (it is made from a report in which that is not: ``grader.report.html.redact``).
Does not defend against: whoever hands out a staff page.
"""
