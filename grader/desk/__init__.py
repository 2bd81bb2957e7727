"""A graded class in the browser: who waits for a person, and points given by hand.

One process serves one folder of ``grader batch``. It keeps nothing of its own: what it shows comes
from the journal, and what people decide goes there, as from ``grader review``.

Defends against:

* other machines: it listens on 127.0.0.1 alone;
* other users, programs and pages on this machine: each request needs a cookie that only the link
  gives, each write also a header that only the desk's own pages know; a request under another
  host's name (DNS rebinding) is refused;
* markup and scripts in names, code and messages: the desk's script sets text, never markup; pages
  of a submission come from the renderer of the static pages, in a frame of another origin; files
  that are not text are offered for saving, and never shown;
* ``kill -9``: a decision is in the journal before the browser is told that it is saved.

Does not defend against: whoever can read the link, or this user's memory and files.
"""
