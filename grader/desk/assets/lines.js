"use strict";
/* Lines of a student's code, and comments on them. There is one editor; it moves to the line. */
const comments = { list: [], path: "", on: null, busy: false };

const commentAt = (source, no) => comments.list.find((each) => each.file === source.file && each.sha256 === source.sha256 && String(each.line) === no);

/* Returns lines as items of a list. Those of a source take comments. */
const code = (lines, source = null) => lines.map(([no, text, here], index) => {
  const takes = source && no, line = make("li", "", { class: `${here ? "here" : ""} ${takes ? "takes" : ""}` });
  /* The list is one stop for Tab: arrows go from line to line. */
  const stop = here || (!index && !lines.some((each) => each[2])) ? 0 : -1;
  const sign = takes ? make("button", no, { type: "button", class: "no", tabindex: stop, "aria-label": `Comment on line ${no}` }) : make("span", no, { class: "no" });
  line.append(sign, make("code", text));
  if (here) line.append(make("span", " ← here", { class: "sr" }));
  if (takes) {
    line.about = { ...source, no };
    line.addEventListener("click", () => { if (!String(getSelection())) edit(line.about, line, sign); });
  }
  return line;
});

const figures = (files, marked = new Set()) => {
  const found = files.map((file) => {
    const box = make("figure"), list = make("ol", "", { class: "lines" });
    list.append(...code(file.lines.map((text, index) => [String(index + 1), text, marked.has(String(index + 1))]), file.source));
    box.append(make("figcaption", file.path), list);
    return box;
  });
  return found.length ? found : [make("p", "It is no longer there as it was graded.")];
};

const field = make("textarea", "", { rows: 3, maxlength: 500, id: "comment" });
const label = make("label", "", { for: "comment" });
const trash = make("button", "Delete", { type: "button" });
const editor = make("li", "", { class: "note" });
{
  const form = make("form", "", { autocomplete: "off" }), buttons = make("p"), cancel = make("button", "Cancel ", { type: "button" });
  const keep = make("button", "Save comment ", { type: "submit" });
  keep.append(make("kbd", "Enter"));
  cancel.append(make("kbd", "Esc"));
  buttons.append(keep, cancel, trash);
  form.append(label, field, buttons);
  editor.append(form);
  form.addEventListener("submit", (event) => { event.preventDefault(); sendComment(field.value); });
  cancel.addEventListener("click", () => leave());
  trash.addEventListener("click", () => sendComment(""));
  editor.addEventListener("keydown", (event) => {
    /* Enter ends a syllable of Korean, too. */
    if (event.isComposing) return;
    if (event.key === "Escape") { event.preventDefault(); leave(); }
    if (event.key === "Enter" && !event.shiftKey && event.target === field) { event.preventDefault(); sendComment(field.value); }
    event.stopPropagation();
  });
}

const edit = (about, line, back) => {
  if (comments.busy || unsaved()) return;
  const now = commentAt(about, about.no);
  comments.on = { ...about, state: now ? now.state : "", text: now ? now.text : "", back };
  label.textContent = `Comment on ${about.file}, line ${about.no}. ${comments.reads}`;
  field.value = comments.on.text;
  trash.hidden = !now;
  line.after(editor);
  field.focus();
};

const leave = () => {
  const back = comments.on && comments.on.back;
  comments.on = null;
  editor.remove();
  if (back && back.isConnected) back.focus();
};

/* Whether a comment is typed that is not saved; it is shown then. */
const unsaved = () => {
  const typed = comments.on && editor.isConnected && field.value.trim() !== comments.on.text;
  if (typed) { trouble("Save your comment first, or leave it with Esc."); field.focus(); }
  return Boolean(typed);
};

const sendComment = async (text) => {
  if (comments.busy) return;
  const { file, sha256, no, state, text: before } = comments.on;
  if (!text.trim() && !before) { leave(); return; }
  comments.busy = true;
  const answer = await ask(`${comments.path}/comment`, { file, sha256, line: Number(no), text, state });
  comments.busy = false;
  if (answer.ok) {
    trouble("");
    comments.list = answer.said.comments;
    leave();
    showComments();
    changedComments();
  } else if (answer.status === 409) {
    await refused();
  } else {
    trouble(`Not saved: ${answer.said.error}`);
    field.focus();
  }
};

/* Somebody was faster: what stands is shown, and what was typed stays. */
const refused = async () => {
  const answer = await ask(comments.path);
  if (!answer.ok) { trouble(answer.said.error); return; }
  comments.list = answer.said.comments;
  const on = comments.on, now = commentAt(on, on.no);
  comments.on = { ...on, state: now ? now.state : "", text: now ? now.text : "" };
  trash.hidden = !now;
  trouble(now
    ? `Not saved. ${now.who} wrote here on ${now.at}: “${now.text}”. Save again to put yours in its place.`
    : "Not saved. The comment here was deleted, or the file was graded again. Look again, then save.");
  showComments();
  field.focus();
};

const saidOn = (each) => {
  const box = make("div", "", { class: "said" });
  box.append(make("p", each.text, { class: "text" }), make("p", `${each.who}, ${each.at}`, { class: "dim small" }));
  return box;
};

/* Shows each comment below its line, and all of them in a list. */
const showComments = () => {
  for (const old of document.querySelectorAll(".lines > .said")) old.remove();
  for (const line of document.querySelectorAll(".lines > .takes")) {
    const now = commentAt(line.about, line.about.no);
    if (!now) continue;
    const under = make("li", "", { class: "said" });
    under.append(saidOn(now));
    line.after(under);
  }
  at("comments").hidden = !comments.list.length;
  at("comments").querySelector("ul").replaceChildren(...comments.list.map((each) => {
    const line = make("li"), change = make("button", "Change", { type: "button", "aria-label": `Change the comment on ${each.place}` });
    change.addEventListener("click", () => edit({ file: each.file, sha256: each.sha256, no: String(each.line) }, line, change));
    line.append(make("b", each.place), make("code", each.excerpt), saidOn(each), change);
    return line;
  }));
};

/* Takes the comments of another submission; `changed` is called after each that is written. */
let changedComments = () => {};
const commentsOf = (list, path, reads, changed = () => {}) => {
  comments.on = null;
  editor.remove();
  Object.assign(comments, { list, path, reads });
  changedComments = changed;
};

/* Goes to the line in question, or to the first that takes a comment. */
const toLines = (...places) => {
  for (const place of places) {
    const found = place.querySelector(".here > button.no") || place.querySelector("button.no");
    if (found) { found.focus(); return true; }
  }
  return false;
};

addEventListener("keydown", (event) => {
  if (!event.target.matches("button.no") || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
  event.preventDefault();
  const all = [...event.target.closest("ol").querySelectorAll("button.no")];
  const next = all[all.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
  if (next) next.focus();
});
addEventListener("beforeunload", (event) => { if (unsaved()) event.preventDefault(); });
