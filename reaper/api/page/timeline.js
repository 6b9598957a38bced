// ---- What happened over the last hour, day or week. ----

const SPANS = {hour: ["1h", 60], day: ["24h", 48], week: ["168h", 84]};

const lookOf = (kind) => PILLS[kind] ?? "plain";
const kinds = (counts) => Object.entries(counts).map(([kind, n]) => [kind, n, lookOf(kind)]);

/// Of each plot: its name, and of a slot the kinds with their numbers and looks.
const PLOTS = [
  ["Requests", (slot) => kinds(slot.outcomes)],
  ["Victims", (slot) => [["deleted or shelved", slot.victims, "evicting"]]],
  ["Who took the room", (slot) => kinds(slot.freed_room)],
  ["Boots that waited at the gateway", (slot) => [["first try", slot.first_tries, "good"], ["other", slot.waited_for - slot.first_tries, "bad"]]],
];

const sumOf = (parts) => parts.reduce((sum, [, n]) => sum + n, 0);

function wordsOf(parts) {
  const all = new Map();
  for (const [kind, n] of parts) all.set(kind, (all.get(kind) ?? 0) + n);
  return [...all].filter(([, n]) => n).map(([kind, n]) => number.format(n) + " " + shown(kind)).join(", ") || "none";
}

function column(slot, parts, most) {
  const made = el("div", {title: moment(slot.at, true).textContent + ": " + wordsOf(parts)});
  for (const [, n, look] of parts) {
    if (n <= 0) continue;
    const piece = el("i", {class: look});
    piece.style.height = 100 * n / most + "%";
    made.append(piece);
  }
  return made;
}

function plot([name, partsOf], slots) {
  const parts = slots.map(partsOf), most = Math.max(1, ...parts.map(sumOf)), words = wordsOf(parts.flat());
  return el("figure", {}, el("figcaption", {}, el("strong", {}, name), " ", el("span", {class: "quiet"}, words)),
    el("div", {class: "plot", role: "img", "aria-label": name + ": " + words}, slots.map((slot, at) => column(slot, parts[at], most))),
    el("p", {class: "axis quiet", "aria-hidden": "true"}, moment(slots[0].at, slots.length !== SPANS.hour[1]), el("span", {}, "most in a slot: " + number.format(most)), "now"));
}

function drawTimeline({slots}) {
  fill($("timeline-list"), PLOTS.map((each) => plot(each, slots)));
}

function refreshTimeline() {
  const [since, limit] = SPANS[$("timeline-span").value];
  return panel("timeline", "/v1/timeline?since=" + since + "&limit=" + limit, drawTimeline);
}

// ---- How often revocable servers are evicted: counted when somebody wants to know. ----

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const rate = (n) => n.toPrecision(2);

function weekPlot(rates) {
  const most = Math.max(...rates), hourOf = (i) => DAYS[Math.floor(i / 24)] + " " + two(i % 24) + ":00 UTC: " + rate(rates[i]);
  return el("figure", {}, el("figcaption", {}, el("strong", {}, "By the hour of the week"), " ",
      el("span", {class: "quiet"}, "most: " + hourOf(rates.indexOf(most)))),
    el("div", {class: "plot", role: "img", "aria-label": "Evictions per 100 server-hours, by the hour of the week"}, rates.map((each, i) => {
      const piece = el("i", {class: "evicting"});
      piece.style.height = 100 * each / most + "%";
      return el("div", {title: hourOf(i)}, piece);
    })),
    el("p", {class: "axis quiet", "aria-hidden": "true"}, DAYS.map((day) => el("span", {}, day))));
}

function drawRisk({lines, by_hour: rates, judged}) {
  const heads = [{name: "Of"}, {name: "Evictions", class: "number"}, {name: "Hours", class: "number"}, {name: "Per 100 hours", class: "number"}, {name: "Between", class: "number"}];
  fill($("risk-list"),
    el("p", {class: "quiet"}, "The last four weeks: evictions per 100 hours of revocable servers, with the interval of 95 %."),
    lines.length ? table(heads, lines.slice(0, MOST_ROWS).map((line) => [line.of + (line.name ? " " + shown(line.name) : ""),
      number.format(line.evictions), number.format(Math.round(line.hours)), rate(line.per_100_hours), rate(line.low) + " \u2013 " + rate(line.high)])) :
      el("p", {class: "quiet"}, "No revocable server ran."),
    rates.length ? weekPlot(rates) : null,
    judged ? el("p", {class: "quiet"}, judged.brier < judged.brier_of_average ? "These hours predict the last week better than the plain average does." :
      "These hours do not predict the last week better than the plain average does.") : null);
}

function onRisk() {
  if (!$("risk").open) return;
  fill($("risk-list"), el("p", {class: "quiet"}, "Counting \u2026"));
  panel("risk", "/v1/risk", drawRisk).catch(onRefused);
}
