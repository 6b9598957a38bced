// ---- Reservations, oversubscription, reapers. ----

const MOST_ROWS = 500;

/// What it says of rows that are left out.
const left = (n) => (n > MOST_ROWS ? "; the first " + MOST_ROWS + " are shown" : "");

async function panel(id, path, draw) {
  try {
    draw(await ask(path));
  } catch (error) {
    if (error.status === 401) throw error;
    fill($(id + "-list"), el("p", {class: "quiet"}, error.message));
    if ($(id + "-sum")) fill($(id + "-sum"), "");
  }
}

function drawReservations({reservations, remarks}) {
  const heads = [{name: "Host"}, {name: "Role"}, {name: "Has"}, {name: "Used"}, {name: "Held"}, {name: "Lent"}, {name: "Owed"}];
  fill($("reservations-sum"), reservations.length ? count(reservations.length, "reservation") + left(reservations.length) : "");
  fill($("reservations-list"),
    remarks.map((remark) => el("p", {class: "verdict warn"}, remark)),
    reservations.length ? table(heads, reservations.slice(0, MOST_ROWS).map((each) => [
      each.host_name || each.host,
      [each.role, each.trouble ? [el("br"), el("span", {class: "pill bad", title: shown(each.trouble)}, each.trouble)] : null],
      ...["resources", "used", "held", "lent", "owed"].map((part) => amountsOrNone(each[part])),
    ])) : el("p", {class: "quiet"}, "No room is kept for roles."));
}

const amountsOrNone = (resources) => (Object.keys(resources).length ? briefly(resources) : "\u2013");

function drawSold({hosts}) {
  const sum = (part) => hosts.reduce((all, host) => all + (host[part] ?? 0), 0);
  fill($("sold-sum"), hosts.length ? number.format(sum("published")) + " published, " + number.format(sum("used")) + " used, " +
    number.format(sum("wanted")) + " wanted on " + count(hosts.length, "host") + left(hosts.length) : "");
  const heads = [{name: "Host"}, {name: "Published", class: "number"}, {name: "Used", class: "number"}, {name: "Wanted", class: "number"}, {name: "Why"}];
  fill($("sold-list"), hosts.length ? table(heads, hosts.slice(0, MOST_ROWS).map((host) => [host.host_name,
    number.format(host.published),
    host.used > host.published ? el("span", {class: "pill bad"}, number.format(host.used)) : number.format(host.used),
    host.wanted === null ? "?" : number.format(host.wanted),
    (host.left_alone ? "left alone: " : "") + shown(host.why)])) : el("p", {class: "quiet"}, "No host has any yet."));
}

/// Of those of a database, which knows more of each.
const toldOf = (reaper, active) => [
  reaper.since ? [" since ", moment(reaper.since, true)] : null,
  Number.isFinite(reaper.cache_age_s) ? [el("br"), "cache of " + lasting(reaper.cache_age_s * 1000)] : null,
  reaper.in_flight ? ", " + number.format(reaper.in_flight) + " in flight" : null,
  reaper.broker_connected === false ? [el("br"), el("span", {class: "pill bad"}, "RabbitMQ does not deliver")] : null,
  active?.configuration && reaper.configuration && reaper.configuration !== active.configuration ?
    [el("br"), el("span", {class: "pill warn"}, "its configuration differs" +
      (reaper.differs_in?.length ? ": " + reaper.differs_in.map(shown).join(", ") : ""))] : null];

const leaseWord = (reaper) => reaper.serves ? "serves the queue" :
  reaper.here && current.status?.dry_run ? "dry run: serves no requests" : "stands by";

function drawReapers({reapers, unknown}) {
  const heads = [{name: "Machine"}, {name: "Journal"}, {name: "Lease"}];
  const active = reapers.find((each) => each.serves);
  fill($("reapers-list"), reapers.length ? table(heads, reapers.map((each) => [
    (each.name || each.machine) + (each.version ? ", " + each.version : "") + (each.here ? " (this one)" : ""),
    el("span", {class: "mono"}, each.journal),
    [el("span", {class: "pill " + (each.serves ? "good" : "")}, leaseWord(each)), toldOf(each, active)]])) : null,
  unknown ? el("p", {class: "quiet"}, "Who serves the queue is not known: " + shown(unknown)) : null);
}

function drawNotices({notices}) {
  $("notices").hidden = !notices.length;
  const heads = [{name: "Server"}, {name: "Host"}, {name: "For"}, {name: "Ends"}];
  fill($("notices-list"), notices.length ? table(heads, notices.map((each) => [
    link("server", each.server, each.name || each.server), each.host,
    link("request", each.request, idCell(each.request)), moment(each.until, true)])) : null);
}

/// What is off is not asked for.
function off(id, why) {
  fill($(id + "-list"), el("p", {class: "quiet"}, why));
}

function refreshPanels() {
  const features = current.status.features;
  return Promise.all([refreshTimeline(), panel("reapers", "/v1/reapers", drawReapers),
    features.reservations ? panel("reservations", "/v1/reservations", drawReservations) :
      off("reservations", "No room is kept for roles (reservations.enabled)."),
    features.oversubscription ? panel("sold", "/v1/oversubscription", drawSold) :
      off("sold", "Nothing is oversubscribed (oversubscription.enabled).")]);
}
