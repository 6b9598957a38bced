// ---- Addresses: each request, server, host and project has one that can be shared. ----

const VIEWS = {request: showRecord, server: showExplanation, host: showHost, project: showProject};

const addressOf = (kind, id) => "#" + kind + "/" + encodeURIComponent(id);

function go(kind, id) {
  location.hash = addressOf(kind, id);
}

function showAddressed() {
  const [, kind, id] = /^#(request|server|host|project)\/(.+)$/.exec(location.hash) ?? [];
  if (!kind) return $("record").close();
  try {
    VIEWS[kind](decodeURIComponent(id));
  } catch { /* it is not an address of this page */ }
}

function onRecordClosed() {
  openRecord.id = null;
  if (location.hash.includes("/")) history.pushState(null, "", location.pathname + location.search);
}

async function showHost(id) {
  await showRead("Host " + shown(id), "/v1/hosts/" + encodeURIComponent(id), hostPage);
}

async function showProject(id) {
  const of = "project=" + encodeURIComponent(id) + "&limit=20";
  await showRead("Project " + shown(id), "/v1/requests?" + of, async ({requests: lines}) => {
    const {victims} = await ask("/v1/victims?" + of);
    const name = lines.find((line) => line.request.project === id)?.request.project_name;
    return [
      facts([["name", name]]),
      el("h3", {}, "Its newest requests"),
      lines.length ? table([{name: "When"}, {name: "Outcome"}, {name: "Asks for"}], lines.map((line) => [
        link("request", line.request.id, moment(line.received_at, true)),
        line.outcome ? pill(line.outcome.kind, shown(line.outcome.reason)) : "under way", asksFor(line.request)])) :
        el("p", {class: "quiet"}, "None."),
      el("h3", {}, "Its servers that went last"),
      victims.length ? table([{name: "When"}, {name: "Server"}, {name: "Host"}], victims.map((victim) => [
        moment(victim.at, true), link("server", victim.server, victim.name || victim.server), victim.host])) :
        el("p", {class: "quiet"}, "None."),
    ];
  });
}
