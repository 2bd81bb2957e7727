"use strict";
/* One item after the other. What is shown as saved is in the journal: the answer is awaited. */
let queue = { items: [], titles: {} };
let item = null, chosen = new Set(), busy = false, loading = false, clash = null;
const saved = [];  /* ids, the latest last, for undo */
const PING = 30000;

const within = () => queue.items.filter((each) => !at("question").value || each.question === at("question").value);
const place = () => within().findIndex((each) => item && each.id === item.id);

const progress = () => {
  const all = within(), open = all.filter((each) => !each.decided).length;
  at("progress").textContent = all.length ? `${open} open of ${all.length}` : "";
};

const questions = () => {
  const kept = at("question").value, counts = new Map();
  for (const each of queue.items) counts.set(each.question, (counts.get(each.question) || 0) + !each.decided);
  const options = [make("option", "All questions", { value: "" })];
  for (const [id, open] of counts) options.push(make("option", `${queue.titles[id] || id} (${open} open)`, { value: id }));
  at("question").replaceChildren(...options);
  at("question").value = kept;
};

const load = async () => {
  const answer = await ask("/queue.json");
  if (!answer.ok) { trouble(answer.said.error); return false; }
  queue = answer.said;
  questions();
  progress();
  return true;
};

/* The next one that nobody has decided or has before them; beginning again at the start. */
const following = (step = 1) => {
  const all = within(), from = place();
  for (let far = 1; far <= all.length; far++) {
    const each = all[(from + step * far + all.length * (far + 1)) % all.length];
    if (!each.decided && !each.by && !(item && each.id === item.id)) return each.id;
  }
  return null;
};

const neighbour = (step) => {
  const all = within(), next = place() + step;
  return all[next] ? all[next].id : null;
};

const fold = (id, text) => {
  at(id).hidden = !text;
  at(id).querySelector("pre").textContent = text;
};

const files = async () => {
  const answer = await ask(path("items", item.id, "file"));
  if (!answer.ok) { trouble(answer.said.error); return; }
  const marked = new Set(item.lines.filter((each) => each[2]).map((each) => each[0]));
  at("file").querySelector("div").replaceChildren(...figures(answer.said, marked));
  showComments();
};

const rubric = () => {
  at("rubric").replaceChildren(...item.rubric.map(([text, points], index) => {
    const line = make("li"), button = make("button", "", { type: "button", "aria-pressed": chosen.has(index) });
    button.append(make("kbd", String(index + 1)), ` ${text} (${number(points)})`);
    button.addEventListener("click", () => toggle(index));
    line.append(button);
    return line;
  }));
  if (chosen.size) at("points").value = number([...chosen].reduce((sum, index) => sum + item.rubric[index][1], 0));
};

const toggle = (index) => {
  if (!chosen.delete(index)) chosen.add(index);
  if (!chosen.size) at("points").value = "";
  rubric();
  at("item").focus();
};

const paint = () => {
  at("none").hidden = true;
  at("item").hidden = false;
  at("what").textContent = `${item.question}: ${item.check}${item.name ? ` · ${item.name}` : ""}`;
  at("message").textContent = item.message;
  at("worth").textContent = `of ${number(item.worth)}`;
  commentsOf(item.comments, path("items", item.id), item.reads);
  at("lines").replaceChildren(...code(item.lines, item.source));
  at("lines").hidden = !item.lines.length;
  at("document").hidden = !item.document;
  at("document").replaceChildren(make("a", `Save ${item.document}`, { href: path("items", item.id, "document"), download: "" }));
  at("held").hidden = !item.by;
  at("held").textContent = `${item.by} has this open.`;
  at("decided").hidden = !item.decision;
  at("decided").textContent = item.decision ? decidedText(item.decision) : "";
  at("points").value = item.decision ? number(item.decision.points) : "";
  at("why").value = item.decision ? item.decision.why : "";
  at("why").placeholder = item.why;
  at("alike").hidden = !item.waiting;
  at("alike").querySelector("span").textContent = `The same for ${item.waiting} more with the same finding`;
  at("same").checked = false;
  at("others").hidden = !item.others.length;
  at("others").querySelector("ul").replaceChildren(...item.others.map((each) => make("li", `${number(each.points)} of ${number(item.worth)}, given to ${each.count}: ${each.why}`)));
  at("conflict").hidden = true;
  fold("evidence", item.evidence);
  fold("reference", item.reference);
  at("file").open = false;
  at("file").querySelector("div").replaceChildren();
  showComments();
  chosen = new Set();
  rubric();
  progress();
  /* Named lines in sight; and keys work at once, whatever had the focus. */
  const here = at("lines").querySelector(".here");
  if (here) here.scrollIntoView({ block: "nearest" });
  at("item").focus({ preventScroll: Boolean(here) });
};

const go = async (id) => {
  if (!id) {
    item = null;
    at("item").hidden = true;
    at("none").hidden = false;
    progress();
    at("main").focus();
    return;
  }
  loading = true;
  const [answer] = await Promise.all([
    ask(`${path("items", id)}?names=${at("names").checked ? 1 : 0}`),
    ask(path("items", id, "open"), {}),
  ]);
  loading = false;
  if (!answer.ok) { trouble(answer.said.error); return; }
  item = answer.said;
  history.replaceState(null, "", `#${id}`);
  paint();
};

const body = () => {
  const wish = { state: item.state, why: at("why").value, same: at("same").checked };
  if (chosen.size) return { ...wish, items: [...chosen].sort((a, b) => a - b) };
  const points = at("points").value.trim().replace(",", ".");
  return /^\d*\.?\d+$|^\d+\.$/.test(points) ? { ...wish, points: Number(points) } : null;
};

const send = async (wish) => {
  if (busy) return;
  busy = true;
  at("save").disabled = true;
  const answer = await ask(path("items", item.id, "decide"), wish);
  if (answer.ok) {
    trouble("");
    saved.push({ id: item.id, same: wish.same });
    const mine = queue.items.find((each) => each.id === item.id);
    if (mine) mine.decided = true;
    await load();
    await go(following());
  } else if (answer.status === 409) {
    await clashed(wish);
  } else {
    trouble(`Not saved: ${answer.said.error}`);
  }
  at("save").disabled = false;
  busy = false;
};

/* Somebody was faster, or it was graded again: both are shown, and a person chooses. */
const clashed = async (wish) => {
  const answer = await ask(`${path("items", item.id)}?names=${at("names").checked ? 1 : 0}`);
  if (!answer.ok) { trouble(answer.said.error); return; }
  item = answer.said;
  const points = at("points").value, why = at("why").value || item.why;
  paint();
  clash = { ...wish, state: item.state };
  const what = item.decision ? decidedText(item.decision) : "It was graded again, or a decision was taken back, since you opened it";
  at("clash").textContent = `Not saved. ${what}. Yours: ${points} “${why}”.`;
  at("conflict").hidden = false;
  at("theirs").focus();
};

const save = () => {
  if (!item || busy || unsaved()) return;
  const wish = body();
  if (wish) send(wish);
  else { trouble(item.rubric.length ? "Choose items of the rubric, or type points." : "Type the points first."); at("points").focus(); }
};

const undo = async () => {
  if (busy || unsaved()) return;
  const last = saved.pop() || (item && item.decision ? { id: item.id, same: false } : null);
  if (!last) { trouble("There is nothing to undo."); return; }
  busy = true;
  const found = await ask(path("items", last.id));
  const answer = found.ok ? await ask(path("items", last.id, "undo"), { state: found.said.state, same: last.same }) : found;
  trouble(answer.ok ? "" : `Not undone: ${answer.said.error}`);
  await load();
  busy = false;
  await go(last.id);
};

const step = (by) => {
  const id = neighbour(by);
  if (id && !unsaved()) go(id);
};

const focusOn = (id) => { at(id).focus(); at(id).select(); };
const keys = {
  n: () => step(1),
  p: () => step(-1),
  u: undo,
  c: () => focusOn("why"),
  ".": () => focusOn("points"),
  s: () => { if (item.waiting) at("same").checked = !at("same").checked; },
  l: () => toLines(at("lines"), at("file")) || trouble("No line here takes a comment."),
  f: () => { chosen.clear(); rubric(); at("points").value = number(item.worth); },
  Enter: save,
};

const digit = (sign) => {
  if (item.rubric.length) {
    if (sign !== "0" && item.rubric[Number(sign) - 1]) toggle(Number(sign) - 1);
    return;
  }
  at("points").focus();
  at("points").value = sign;
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !item) return;
  /* Meant for what was before the eyes, it must not count for the next one. */
  if (busy || loading) { event.preventDefault(); return; }
  const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
  if (event.key === "Escape") { at("item").focus(); return; }
  /* Enter on a button or a fold is that control's own. */
  if (typing || (event.key === "Enter" && event.target.matches("button, summary, a, input"))) return;
  if (!at("conflict").hidden) return;
  if (/^[0-9]$/.test(event.key)) { event.preventDefault(); digit(event.key); }
  else if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});

at("give").addEventListener("submit", (event) => { event.preventDefault(); save(); });
at("points").addEventListener("input", () => { if (chosen.size) { const typed = at("points").value; chosen.clear(); rubric(); at("points").value = typed; } });
at("previous").addEventListener("click", () => step(-1));
at("next").addEventListener("click", () => step(1));
at("undo").addEventListener("click", undo);
at("theirs").addEventListener("click", () => go(following()));
at("mine").addEventListener("click", () => { at("conflict").hidden = true; send(clash); });
at("names").addEventListener("change", () => item && go(item.id));
at("question").addEventListener("change", () => { item = null; go(following() || neighbour(1)); });
at("file").addEventListener("toggle", () => { if (at("file").open) files(); });

setInterval(() => item && ask(path("items", item.id, "open"), {}), PING);
onChange(async () => {
  if (busy || !(await load())) return;
  if (!item) {
    const asked = location.hash.slice(1);
    await go(queue.items.some((each) => each.id === asked) ? asked : following());
  } else {
    const mine = queue.items.find((each) => each.id === item.id);
    at("held").hidden = !(mine && mine.by);
    at("held").textContent = mine ? `${mine.by} has this open.` : "";
  }
});
