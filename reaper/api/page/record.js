// ---- One request with its whole record, and decisions as they are told everywhere. ----

const openRecord = {id: null};

function openDrawer(title, ...content) {
  const drawer = $("record");
  fill($("record-title"), title);
  fill(drawer.querySelector(".body"), ...content);
  if (drawer.open) return;
  drawer.showModal();
  $("record-title").focus();
}

async function showRecord(id) {
  openRecord.id = id;
  openDrawer("Request " + shown(id), el("p", {class: "quiet"}, "Reading \u2026"));
  await refreshRecord();
}

/// What the path answers, as a page of its own.
async function showRead(title, path, pageOf) {
  openRecord.id = null;
  openDrawer(title, el("p", {class: "quiet"}, "Reading \u2026"));
  let content;
  try {
    content = await pageOf(await ask(path));
  } catch (error) {
    content = [el("p", {class: "verdict bad"}, error.message)];
  }
  if ($("record-title").textContent === title && $("record").open) fill($("record").querySelector(".body"), content);
}

async function refreshRecord() {
  const id = openRecord.id;
  if (id === null) return;
  let content;
  try {
    content = recordPage(await ask("/v1/requests/" + encodeURIComponent(id)));
  } catch (error) {
    content = [el("p", {class: "verdict bad"}, error.message)];
  }
  if (openRecord.id === id && $("record").open) fill($("record").querySelector(".body"), content);
}

function facts(pairs) {
  return el("dl", {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function verdictOf(record) {
  const {outcome} = record;
  if (!outcome) return el("p", {class: "verdict warn"}, el("strong", {}, "under way"));
  return el("p", {class: "verdict " + (PILLS[outcome.kind] ?? "")}, el("strong", {}, outcome.kind),
    outcome.reason ? " \u2013 " + shown(outcome.reason) : "", outcome.safeguard ? " (safeguard: " + shown(outcome.safeguard) + ")" : "");
}

function recordPage(record) {
  const {request, outcome, freed_room: room} = record;
  const victims = new Map(record.plans.flatMap((plan) => (plan.decision.hosts ?? []).flatMap((host) => host.victims ?? []))
    .map((victim) => [victim.server, victim]));
  const last = new Map(record.steps.map((step) => [step.server, step]));
  return [
    verdictOf(record),
    room ? el("p", {class: "verdict " + (PILLS[room.kind] ?? "")}, el("strong", {}, "Who took the room: " + room.kind),
      " \u2013 " + shown(room.reason)) : null,
    el("h3", {}, "Asked for"),
    facts([
      ["servers", request.slots + " \u00d7 " + amounts(request.resources)],
      ["operation", request.operation], ["project", link("project", request.project, projectText(request))],
      ["zone", request.availability_zone], ["traits", [...request.required_traits,
        ...request.forbidden_traits.map((trait) => "not " + shown(trait))].map(shown).join(", ")],
      ["room", request.res_type], ["heard of by", request.source],
      ["for", request.requesters.length ? el("span", {class: "mono"}, requestersOf(request)) : null],
      ["image", request.image], ["from host", request.from_host],
      ["received", moment(record.received_at, true)],
      ["took", outcome ? lasting(new Date(outcome.at) - new Date(record.received_at), true) : null],
    ]),
    record.steps.length || record.plans.length ? [el("h3", {}, "What happened"), timeline(record, victims)] : null,
    record.plans.map((plan) => [
      el("h3", {}, record.plans.length > 1 ? "Plan, round " + plan.round : "Plan"),
      decisionPage(plan.decision, last),
    ]),
  ].flat(Infinity);
}

function timeline(record, victims) {
  const called = (server) => victims.get(server)?.name ?? server;
  const entries = [{at: record.received_at, text: "received"}];
  for (const plan of record.plans) entries.push({at: plan.at, text: "decided: " + inShort(plan.decision)});
  for (const step of record.steps)
    entries.push({at: step.at, text: step.step.replaceAll("-", " ") + ": " + shown(called(step.server)) + (step.detail ? " \u2013 " + shown(step.detail) : "")});
  if (record.outcome) entries.push({at: record.outcome.at, text: "ended: " + shown(record.outcome.kind)});
  if (record.freed_room) entries.push({at: record.freed_room.at, text: "room: " + shown(record.freed_room.kind)});
  const began = new Date(record.received_at);
  entries.sort((a, b) => new Date(a.at) - new Date(b.at));
  return el("ol", {class: "times"}, entries.map((entry) => el("li", {}, moment(entry.at),
    el("span", {class: "quiet"}, "+" + lasting(new Date(entry.at) - began, true) + " "), entry.text)));
}

function inShort(decision) {
  if (decision.decision !== "plan") return decision.decision.replaceAll("-", " ");
  const victims = decision.hosts.reduce((sum, host) => sum + host.victims.length, 0);
  return count(victims, "victim") + " on " + count(decision.hosts.length, "host") + " for " + count(decision.slots_freed, "slot");
}

/// A decision with all of its reasons. `last`: what happened to each victim so far.
function decisionPage(decision, last = new Map()) {
  const kinds = {"plan": "good", "nothing-to-do": "good", "not-enough": "warn", "refused": "warn"};
  const insurance = decision.slots_wanted > decision.slots_requested ?
    "; " + decision.slots_wanted + " wanted, so that there are alternatives" : "";
  return [
    el("p", {class: "verdict " + (kinds[decision.decision] ?? "")}, el("strong", {}, decision.decision.replaceAll("-", " ")),
      " \u2013 ", decision.decision === "plan" ? inShort(decision) + " (" + decision.slots_requested + " asked for" + insurance +
        "), strategy " + shown(decision.strategy) : decision.reason,
      decision.slots_possible !== undefined ? " (" + decision.slots_possible + " of " + decision.slots_requested + " slots possible)" : "",
      decision.safeguard ? " (safeguard: " + shown(decision.safeguard) + ")" : ""),
    decision.note ? el("p", {class: "quiet"}, decision.note) : null,
    (decision.hosts ?? []).map((host) => hostBlock(host, last)),
    passedOver(decision),
  ].flat(Infinity);
}

function hostBlock(host, last) {
  const heads = [{name: "Victim"}, {name: "Why this one"}, {name: "Holds"}, {name: "Project"}];
  if (last.size) heads.push({name: "Now"});
  return el("div", {class: "block"},
    el("p", {}, link("host", host.host, el("strong", {}, host.host_name)), " \u2013 " + count(host.slots, "slot") +
      (host.slots_ready ? ", " + host.slots_ready + " ready" : "")),
    host.reason ? el("p", {class: "quiet"}, host.reason) : null,
    host.free_after ? el("p", {class: "quiet"}, "free before: " + amounts(host.free_before) + "; after: " + amounts(host.free_after)) : null,
    host.victims?.length ? table(heads, host.victims.map((victim) => [
      [last.size ? whyButton(victim) : victim.name, el("br"), el("span", {class: "quiet mono"}, victim.server)],
      [victim.reason, el("br"), el("span", {class: "quiet"}, "since ", moment(victim.created, true))],
      amounts(victim.resources), projectCell(victim),
      ...(last.size ? [[last.get(victim.server)?.step ?? "\u2013"]] : []),
    ])) : null,
    sparedBlock(host),
    host.pending_releases?.length ? el("p", {}, "Comes free by itself: ",
      host.pending_releases.map((each) => shown(each.name || each.server) + " (" + shown(each.reason) + ")").join("; ")) : null);
}

/// Hosts that were passed over: by reason, then one by one.
function passedOver(decision) {
  const counts = decision.rejected_counts ?? [], hosts = decision.rejected ?? [];
  if (!counts.length && !hosts.length) return null;
  const all = counts.reduce((sum, each) => sum + each.hosts, 0) || hosts.length;
  return el("details", {open: decision.decision === "not-enough"},
    el("summary", {}, "What else was considered: " + count(all, "host") + " passed over"),
    counts.length ? table([{name: "Hosts", class: "number"}, {name: "Why"}, {name: "Such as"}],
      counts.map((each) => [number.format(each.hosts), each.code.replaceAll("-", " "), each.sample])) : null,
    hosts.length ? table([{name: "Host"}, {name: "Why not"}], hosts.map((each) => [each.host_name, each.reason])) : null);
}
