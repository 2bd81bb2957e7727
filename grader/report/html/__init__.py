"""Static pages: one for the class, and two for each submission, one for staff and one for students.

Each page is a single file with its styles, scripts and pictures. It opens without a network.

Defends against:

* markup, scripts and odd characters in names, messages, paths and sources: all text is escaped, and
  the content security policy runs the page's own script only and loads nothing;
* a picture that carries a script: it is shown as an image, and scripts do not run in images;
* a student's page that reveals hidden cases: it is made from a report without them
  (``grader.report.view``).

Does not defend against: whoever hands out a staff page.
"""
