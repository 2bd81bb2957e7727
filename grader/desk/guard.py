"""Who may ask the desk for something: host, cookie, header, size."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from hmac import compare_digest, digest
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CSRF_HEADER = "x-desk"
ENTER = "/enter/"
_HOSTS = ("127.0.0.1", "localhost")
_MOST_BYTES = 64_000
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# A redirect would still count as coming from the page that holds the link, and a strict cookie
# would not be sent along.
_ENTERED = (
    "<!doctype html><meta charset=utf-8><title>Desk</title>"
    '<meta http-equiv=refresh content="0;url=/"><p><a href="/">Go on</a></p>'
)


class Keys:
    """A random link for each name, and what its pages have to send with a write.

    Args:
        names: Who works here.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.links: Mapping[str, str] = {name: secrets.token_urlsafe(24) for name in names}

    def who(self, token: str) -> str:
        """Return whose link holds a token; empty for nobody's."""
        found = ""
        for name, known in self.links.items():
            if compare_digest(known.encode(), token.encode()):
                found = name
        return found

    @staticmethod
    def csrf(token: str) -> str:
        """Return what a page of that link sends with a write."""
        return digest(token.encode(), b"csrf", "sha256").hex()


class Guard:
    """Lets through what comes from the desk's own pages; puts the policy on each answer.

    What it lets through finds ``scope["who"]`` and ``scope["csrf"]``.

    Args:
        app: What is behind it.
        keys: Who may come in.
        cookie: Its name. Cookies do not know ports, so each desk needs another.
    """

    def __init__(self, app: ASGIApp, keys: Keys, cookie: str) -> None:
        self._app, self._keys, self._cookie = app, keys, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        answer = self._answer(scope, headers)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    out[name] = value
                out.setdefault("Content-Security-Policy", POLICY)
            await send(message)

        await (answer or self._app)(scope, receive, sent)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to what does not come from the desk's own pages; None to go on."""
        if _host(headers.get("host", "")) not in _HOSTS:
            return _refused("This desk answers on 127.0.0.1 alone.")
        path = scope["path"]
        if scope["method"] == "GET" and path.startswith(ENTER):
            return self._entered(path.removeprefix(ENTER))
        token = _cookie(headers.get("cookie", ""), self._cookie)
        who = self._keys.who(token)
        if not who:
            return _refused("Open the link that `grader desk` printed.")
        scope["who"], scope["csrf"] = who, self._keys.csrf(token)
        if scope["method"] not in ("GET", "HEAD"):
            return _refuse_write(scope, headers)
        return None

    def _entered(self, token: str) -> Response:
        if not self._keys.who(token):
            return _refused("This link is of a desk that has ended. Start `grader desk` again.")
        answer = HTMLResponse(_ENTERED)
        answer.set_cookie(self._cookie, token, httponly=True, samesite="strict", path="/")
        return answer


def _refuse_write(scope: Scope, headers: Headers) -> Response | None:
    if not compare_digest(headers.get(CSRF_HEADER, "").encode(), scope["csrf"].encode()):
        return _refused("A write needs the desk's own page.")
    origin = headers.get("origin")
    if origin is not None and _host(origin.partition("://")[2]) not in _HOSTS:
        return _refused("A write needs the desk's own page.")
    length = headers.get("content-length", "")
    # Without a length it would be read to its end, however long that is.
    if not length.isdecimal() or int(length) > _MOST_BYTES:
        return PlainTextResponse("This is too long.", 413)
    return None


def _refused(why: str) -> Response:
    return PlainTextResponse(why, 403)


def _host(text: str) -> str:
    return text.rpartition(":")[0] or text


def _cookie(text: str, name: str) -> str:
    try:
        found = SimpleCookie(text).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
