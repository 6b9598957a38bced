// ---- Why a server was deleted, or skipped: what its owner asks. ----

const FATES = {
  planned: "was chosen, and nothing was sent", noticed: "has notice, and is deleted when that is over", going: "is being deleted", deleted: "was deleted",
  shelving: "is being shelved", shelved: "was shelved",
  skipped: "was chosen, and skipped before its deletion", vanished: "was gone before it was deleted",
  "still-there": "was to be deleted, and still held its room at the deadline",
  unknown: "was to be deleted; the outcome was not observed",
};
const FATE_LOOKS = {deleted: "bad", going: "bad", shelving: "bad", shelved: "bad", skipped: "good"};

async function showExplanation(asked) {
  await showRead("Why " + shown(asked) + "?", "/v1/explain/" + encodeURIComponent(asked), explanationPage);
}

function whyButton(victim) {
  return el("button", {type: "button", class: "plain", title: "Why this one?", onclick: () => go("server", victim.server)},
    victim.name || victim.server);
}

function explanationPage(told) {
  const {request, decision, outcome, freed_room: room} = told;
  const last = new Map([...told.servers, ...told.others].map((each) => [each.server, {step: FATES[each.fate]}]));
  return [
    told.servers.length ? told.servers.map(fateOf) : el("p", {class: "verdict warn"}, "No server was chosen."),
    facts([
      ["for", slotsOf(request) + ", project " + projectText(request)],
      ["request", el("button", {type: "button", class: "plain mono", onclick: () => go("request", request.id)}, request.id)],
      ["waited", request.requesters.length ? el("span", {class: "mono"}, requestersOf(request)) : null],
      ["outcome", outcome ? shown(outcome.kind) + (outcome.reason ? " \u2013 " + shown(outcome.reason) : "") : "none yet"],
      ["who took the room", room ? shown(room.kind) + " \u2013 " + shown(room.reason) : null],
    ]),
    decision ? [el("h3", {}, "What else was considered"), decisionPage(decision.decision, last)] : null,
    el("h3", {}, "When"),
    el("ol", {class: "times"}, told.times.map((each) => el("li", {}, moment(each.at, true), " ", each.what))),
    el("h3", {}, "What the journal does not know"),
    el("ul", {}, told.unknown.map((each) => el("li", {}, each))),
    told.also.length ? [el("h3", {}, "Also in the journal"), el("ul", {}, told.also.map((each) =>
      el("li", {}, moment(each.received_at, true), " ", each.name, " ", el("span", {class: "mono"}, each.server), " on ",
        each.host, ", for ", el("span", {class: "mono"}, each.request))))] : null,
  ].flat(Infinity);
}

function slotsOf(request) {
  return request.correction ? "the sake of " + shown(request.correction.host_name) :
    request.slots + " \u00d7 " + amounts(request.resources) + " (" + shown(request.operation) + ")";
}

function fateOf(server) {
  return [
    el("p", {class: "verdict " + (FATE_LOOKS[server.fate] ?? "warn")}, el("strong", {}, server.name || server.server),
      " " + (FATES[server.fate] ?? shown(server.fate)),
      server.sent_at ? [" at ", moment(server.sent_at, true)] : null,
      server.fate_reason ? " \u2013 " + shown(server.fate_reason) : ""),
    el("p", {}, server.reason),
    el("p", {class: "quiet"}, "on " + shown(server.host) + ", project " + projectText(server) +
      (server.flavor ? ", flavor " + shown(server.flavor) : "") + ", held " + amounts(server.resources) + ", id ",
      el("span", {class: "mono"}, server.server)),
  ];
}

/// Revocable servers of a host that stayed beside its victims.
function sparedBlock(host) {
  if (host.spared_in_all === undefined) return null;
  if (!host.spared_in_all) return el("p", {class: "quiet"}, "No other revocable server was there.");
  return el("details", {}, el("summary", {}, count(host.spared_in_all, "revocable server") + " stayed"),
    host.spared.length ? table([{name: "Server"}, {name: "Why it stayed"}, {name: "Holds"}, {name: "Project"}],
      host.spared.map((each) => [[each.name, el("br"), el("span", {class: "quiet mono"}, each.server)],
        [each.reason, el("br"), el("span", {class: "quiet"}, "since ", moment(each.created, true))],
        amounts(each.resources), projectCell(each)])) : null,
    host.spared.length < host.spared_in_all ? el("p", {class: "quiet"},
      "and " + number.format(host.spared_in_all - host.spared.length) + " more") : null);
}

function onExplain(event) {
  event.preventDefault();
  const asked = event.target.elements.asked.value.trim();
  if (asked) showExplanation(asked);
}
