// ---- Making elements. Everything that comes from the cloud is text, and never more. ----

const $ = (id) => document.getElementById(id);

/// What moves a cursor, changes the direction or does not show is shown by its number.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]|(?! )\p{Z}/gu;
const LONGEST = 300;

function shown(text) {
  const plain = String(text ?? "").replace(INVISIBLE, (found) =>
    "\\u{" + found.codePointAt(0).toString(16) + "}");
  return plain.length > LONGEST ? plain.slice(0, LONGEST) + "\u2026" : plain;
}

/// el("td", {class: "number", onclick: ...}, "text", element, ...)
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === "") continue;
    made.append(child instanceof Node ? child : shown(child));
  }
  return made;
}

function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined)
    .map((child) => (child instanceof Node ? child : document.createTextNode(shown(child)))));
  return node;
}

/// On a narrow screen, rows of more than three cells become blocks.
function table(heads, rows) {
  return el("table", {class: heads.length > 3 ? "stack" : null},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", {scope: "col", class: head.class}, head.name)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, at) =>
      el("td", {class: heads[at].class, "data-name": heads[at].name}, el("div", {}, cell)))))));
}

const collator = new Intl.Collator("en", {numeric: true});
const naturally = (a, b) => collator.compare(a, b);
const number = new Intl.NumberFormat("en");
const count = (n, thing) => number.format(n) + " " + thing + (n === 1 ? "" : "s");

// ---- Times ----

const two = (n) => String(n).padStart(2, "0");

/// Local, with its zone in the title.
function moment(iso, withDate) {
  const at = new Date(iso);
  const clock = two(at.getHours()) + ":" + two(at.getMinutes()) + ":" + two(at.getSeconds());
  const today = at.toDateString() === new Date().toDateString();
  const date = at.getFullYear() + "-" + two(at.getMonth() + 1) + "-" + two(at.getDate());
  return el("time", {datetime: iso, title: iso + " (UTC)"}, today && !withDate ? clock : date + " " + clock);
}

/// In the words of people who wait; of short times, tenths of a second count.
function lasting(ms, tenths) {
  const s = Math.max(0, ms / 1000);
  if (tenths && s < 10) return s.toFixed(1) + " s";
  if (s < 100) return Math.round(s) + " s";
  if (s < 6000) return Math.round(s / 60) + " min";
  if (s < 172800) return Math.round(s / 3600) + " h";
  return Math.round(s / 86400) + " days";
}

// ---- Resources ----

const NAMES = {VCPU: "vCPU", PCPU: "pCPU", MEMORY_MB: "memory", DISK_GB: "disk"};
const ORDER = ["VCPU", "PCPU", "MEMORY_MB", "DISK_GB"];

function inOrder(classes) {
  const rank = (name) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return [...classes].sort((a, b) => rank(a) - rank(b) || naturally(a, b));
}

function amount(name, n) {
  if (name === "MEMORY_MB") return Math.abs(n) >= 1024 ? number.format(Math.round(n / 102.4) / 10) + " GiB" : n + " MiB";
  if (name === "DISK_GB") return Math.abs(n) >= 10240 ? number.format(Math.round(n / 102.4) / 10) + " TiB" : number.format(n) + " GiB";
  return number.format(n);
}

/// For a table: `4 vCPU \u00b7 8 GiB \u00b7 20 GiB disk`.
function briefly(resources) {
  const name = (of) => (of === "MEMORY_MB" ? "" : " " + (NAMES[of] ?? of));
  return inOrder(Object.keys(resources ?? {})).map((of) => amount(of, resources[of]) + name(of)).join(" \u00b7 ") || "nothing";
}

/// Ids are long: their beginning, and all of it where one points at it.
function idCell(id) {
  const text = shown(id);
  return el("span", {class: "mono", title: text}, text.length > 12 ? text.slice(0, 8) + "\u2026" : text);
}

/// To the address of its own.
const link = (kind, id, ...content) => el("a", {href: addressOf(kind, id), title: shown(id)}, content);

/// The name of whose it is, with the id at hand; the id alone where the name is not known.
function projectCell(of) {
  return link("project", of.project, of.project_name || idCell(of.project));
}

/// `web (8d3f...)`; the id alone where the name is not known.
function projectText(of) {
  return of.project_name ? shown(of.project_name) + " (" + shown(of.project) + ")" : shown(of.project);
}

/// Who waits: `web-1 (5e2d...)`, or the id alone.
const requestersOf = (request) => request.requesters.map((id) => {
  const name = request.requester_names?.[id];
  return name ? shown(name) + " (" + shown(id) + ")" : shown(id);
}).join(", ");

/// `4 vCPU, 8 GiB memory, 20 GiB disk`
function amounts(resources) {
  const all = inOrder(Object.keys(resources ?? {})).map((name) => amount(name, resources[name]) + " " + (NAMES[name] ?? name));
  return all.length ? all.join(", ") : "nothing";
}
