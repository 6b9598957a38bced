// ---- Requests: the newest first, and what happens to them as it happens. ----

const PILLS = {
  "freed": "good", "already-there": "good", "revocable-room": "good", "taken": "good", "elsewhere": "good",
  "not-enough": "warn", "refused": "warn", "revocable-only": "warn", "incomplete": "bad", "failed": "bad",
  "wasted": "bad", "taken-by-revocable": "bad", "taken-by-regular": "warn",
  "short-lived": "warn",
};

const pill = (word, title) => el("span", {class: "pill " + (PILLS[word] ?? ""), title}, word);
const PAGE = 50;

class Requests {
  constructor(onNews) {
    this.onNews = onNews;
    this.lines = [];
    this.fresh = new Set();
    this.body = document.querySelector("#requests-table tbody");
    $("requests-outcome").addEventListener("change", () => this.reload().catch(() => {}));
    $("requests-more").addEventListener("click", () => this.more());
    this.events = new Events((kind, data) => this.hear(kind, data), (state) => this.tellState(state));
  }
  tellState(state) {
    fill($("live"), state === "live" ? "live" : state === "lost" ? "not live: trying again" : "");
    $("live").className = state === "lost" ? "pill warn" : state === "live" ? "pill good" : "quiet";
  }
  path() {
    const outcome = $("requests-outcome").value;
    return "/v1/requests?limit=" + PAGE + (outcome ? "&outcome=" + encodeURIComponent(outcome) : "");
  }
  async reload() {
    const page = await ask(this.path());
    this.lines = page.requests;
    this.next = page.requests_links.find((link) => link.rel === "next")?.href;
    this.draw();
  }
  async more() {
    try {
      const page = await ask(this.next);
      this.lines.push(...page.requests);
      this.next = page.requests_links.find((link) => link.rel === "next")?.href;
      this.draw();
    } catch (error) {
      this.next = undefined;
      tellTrouble(error);
    }
  }
  /// Much may happen at once: it is read again when it has calmed down, and now and then before.
  hear(kind, data) {
    if (kind === "hello") return;
    if (data.request) this.fresh.add(data.request);
    if (data.request && data.request === openRecord.id) refreshRecord();
    this.onNews(kind, data);
    if (this.due) return;
    this.due = setTimeout(() => {
      this.due = undefined;
      this.reload().catch(tellTrouble);
    }, 400);
  }
  draw() {
    const focused = document.activeElement?.dataset?.request;
    fill(this.body, this.lines.map((line) => this.row(line)));
    this.fresh.clear();
    $("requests-empty").hidden = this.lines.length > 0;
    fill($("requests-empty"), $("requests-outcome").value ? "None of these." :
      "No requests yet. They show here as Nova refuses servers.");
    $("requests-more").hidden = !this.next;
    if (focused) [...this.body.querySelectorAll("button")].find((each) => each.dataset.request === focused)?.focus();
  }
  row(line) {
    const {request, outcome, freed_room: room} = line;
    const open = () => go("request", request.id);
    const button = el("button", {type: "button", "aria-label": "Record of request " + shown(request.id),
      onclick: (event) => { event.stopPropagation(); open(); }}, moment(line.received_at));
    button.dataset.request = request.id;
    return el("tr", {onclick: open, class: this.fresh.has(request.id) ? "fresh" : null},
      el("td", {class: "when"}, button),
      el("td", {}, outcome ? pill(outcome.kind, shown(outcome.reason)) : el("span", {class: "pill warn"}, "under way")),
      el("td", {}, asksFor(request), el("div", {class: "quiet who"}, whoAsks(request))),
      el("td", {class: "number"}, line.victims ? number.format(line.victims) :
        line.planned_victims ? el("span", {title: "planned; none was deleted"}, "(" + number.format(line.planned_victims) + ")") : ""),
      el("td", {class: "wide"}, room ? pill(room.kind, shown(room.reason)) : ""));
  }
}

/// Its first requester and its project, by name where there is one.
function whoAsks(request) {
  const [first, ...others] = request.requesters ?? [];
  const server = first && shown(request.requester_names?.[first] ?? first) +
    (others.length ? " and " + others.length + " more" : "");
  const project = shown(request.project_name || request.project || "");
  return [server, project].filter(Boolean).join(" of ");
}

function asksFor(request) {
  if (request.correction) return "correction of " + shown(request.correction.host_name);
  return (request.slots > 1 ? request.slots + " \u00d7 " : "") + briefly(request.resources) +
    (!["build", "manual"].includes(request.operation) ? " (" + shown(request.operation) + ")" : "");
}
