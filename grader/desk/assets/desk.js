"use strict";
/* What all pages share. A text from the server becomes text of the page, never markup. */
const at = (id) => document.getElementById(id);
const key = document.querySelector("meta[name=desk]").content;

const make = (tag, text = "", attributes = {}) => {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

const number = (value) => String(Math.round(value * 1e4) / 1e4);

const trouble = (text) => {
  at("trouble").textContent = text;
  at("trouble").hidden = !text;
};

/* Returns {ok, status, ...body}; a server that is gone is an answer, too. */
const ask = async (path, body) => {
  const how = body === undefined ? {} : { method: "POST", headers: { "X-Desk": key }, body: JSON.stringify(body) };
  try {
    const answer = await fetch(path, how);
    const json = (answer.headers.get("Content-Type") || "").includes("json");
    const said = json ? await answer.json() : { error: await answer.text() };
    return { ok: answer.ok, status: answer.status, said };
  } catch {
    return { ok: false, status: 0, said: { error: "The desk does not answer: it has ended, or the tunnel is closed. Nothing was saved now." } };
  }
};

const path = (...parts) => "/" + parts.map(encodeURIComponent).join("/");

/* Calls back whenever the class has changed. The first event comes at once. */
const onChange = (callback) => {
  let running = false, again = false;
  const run = async () => {
    if (running) { again = true; return; }
    running = true;
    do { again = false; await callback(); } while (again);
    running = false;
  };
  const events = new EventSource("/events");
  events.onmessage = () => { at("live").textContent = ""; run(); };
  events.onerror = () => { at("live").textContent = "· not connected"; };
  addEventListener("pagehide", () => events.close());
};

const decidedText = (decision) =>
  `${decision.who} gave ${number(decision.points)} on ${decision.at}: “${decision.why}”`;
