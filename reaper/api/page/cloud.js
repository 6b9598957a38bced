// ---- The hosts: read from the API, summed up, and one of them looked at. ----

const MEANING = {
  regular: "regular servers", revocable: "revocable servers", lent: "lent to revocable ones",
  evicting: "being evicted", reserved: "held for roles", other: "others' (migrations, ...)",
  free: "free", promised: "promised to requests",
};

class Cloud {
  constructor() {
    this.hosts = [];
    this.map = new HeatMap($("heat"), (host) => this.describe(host), (host) => go("host", host.id));
    $("heat-class").addEventListener("change", () => { this.of = $("heat-class").value; this.reload(); });
    $("heat-show").addEventListener("change", () => { this.map.show = $("heat-show").value; this.map.draw(); });
    $("heat-zone").addEventListener("change", () => this.arrange());
    $("heat-find").addEventListener("input", () => this.find());
    this.of = "VCPU";
    this.classes = ["VCPU"];
    this.read_at = 0;
  }
  /// A reading that is under way is enough.
  async reload() {
    if (this.reading) {
      this.again = true;
      return;
    }
    this.reading = true;
    try {
      const hosts = [], of = this.of;
      await this.learnClasses();
      await askAll("/v1/hosts?resource_class=" + encodeURIComponent(of), "hosts", (page) => hosts.push(...page));
      this.hosts = hosts.sort((a, b) => naturally(a.zone, b.zone) || naturally(a.name, b.name));
      this.map.of = of;
      this.read_at = Date.now();
      this.arrange();
      $("heat-empty").hidden = hosts.length > 0;
      fill($("heat-empty"), "There are no hosts.");
    } catch (error) {
      $("heat-empty").hidden = this.hosts.length > 0;
      fill($("heat-empty"), error.message);
      if (error.status === 401) throw error;
    } finally {
      this.reading = false;
      if (this.again) {
        this.again = false;
        this.reload().catch(() => {});
      }
    }
  }
  /// From the first hosts: a cloud's hosts are much alike.
  async learnClasses() {
    const first = await ask("/v1/hosts?limit=20");
    const known = new Set(first.hosts.flatMap((host) => Object.keys(host.resources)));
    this.classes = inOrder(new Set([...known, this.of]));
    choices($("heat-class"), this.classes.map((name) => [name, NAMES[name] ?? name]), this.of);
  }
  arrange() {
    const zones = [...new Set(this.hosts.map((host) => host.zone))].sort(naturally);
    choices($("heat-zone"), [["", "all"], ...zones.filter(Boolean).map((zone) => [zone, zone])], $("heat-zone").value);
    fill($("zones"), zones.filter(Boolean).map((zone) => el("option", {value: zone})));
    const zone = $("heat-zone").value;
    const chosen = zone ? this.hosts.filter((host) => host.zone === zone) : this.hosts;
    this.map.set(chosen);
    this.find();
    this.sumUp(chosen);
  }
  find() {
    const text = $("heat-find").value.trim().toLowerCase();
    const fits = (host) => host.name.toLowerCase().includes(text) || host.id === text;
    this.map.found = text ? new Set(this.hosts.filter(fits).map((host) => host.id)) : null;
    this.map.draw();
    if (text) {
      const first = this.map.hosts.findIndex(fits);
      this.map.point(first);
      if (first < 0) fill($("heat-now"), "No host is called so.");
    }
  }
  sumUp(hosts) {
    const sum = Object.fromEntries([...PARTS, "free", "promised", "capacity"].map((part) => [part, 0]));
    let servers = 0, revocable = 0, off = 0;
    for (const host of hosts) {
      const use = host.resources[this.map.of];
      for (const part of Object.keys(sum)) sum[part] += use?.[part] ?? 0;
      servers += host.servers.regular + host.servers.revocable + host.servers.evicting;
      revocable += host.servers.revocable;
      off += host.state !== "up";
    }
    fill($("cloud-sum"), count(hosts.length, "host") + ", " + count(servers, "server") + ", " +
      number.format(revocable) + " of them revocable" + (off ? "; " + number.format(off) + " down or disabled" : ""));
    const share = (part) => (sum.capacity > 0 ? " \u00b7 " + percent(sum[part] / sum.capacity) : "");
    fill($("legend"), [...PARTS, "free", "promised"].map((part) => el("li", {},
      el("span", {class: "key " + part}), MEANING[part], el("b", {}, amount(this.map.of, sum[part]) + share(part)))),
      off ? el("li", {}, el("span", {class: "key down"}), "down or disabled", el("b", {}, number.format(off))) : null);
  }
  describe(host) {
    if (!host) {
      fill($("heat-now"), el("p", {class: "quiet"}, "Point at a host, or move to one with the arrow keys."));
      return;
    }
    const use = host.resources[this.map.of];
    const parts = use ? [...PARTS, "free", "promised"].filter((part) => use[part] !== 0) : [];
    fill($("heat-now"),
      el("p", {}, el("strong", {}, host.name), " \u2013 " + stateOf(host)),
      use ? useBar(use) : null,
      el("p", {class: "quiet"}, use ? (NAMES[this.map.of] ?? this.map.of) + ": " + amount(this.map.of, use.capacity) + " in all; " +
        parts.map((part) => amount(this.map.of, use[part]) + " " + part).join(", ") : "It has no " + this.map.of + "."));
  }
}

function percent(share) {
  const rounded = Math.round(100 * share);
  return (rounded === 0 && share > 0 ? "<1" : rounded) + " %";
}

function choices(select, pairs, chosen) {
  const wanted = JSON.stringify(pairs);
  if (select.dataset.pairs === wanted) return;
  select.dataset.pairs = wanted;
  fill(select, pairs.map(([value, name]) => el("option", {value, selected: value === chosen}, name)));
}

function stateOf(host) {
  return host.state + (host.why_unavailable ? " (" + shown(host.why_unavailable) + ")" : "") +
    (host.zone ? ", zone " + shown(host.zone) : "") + ", " + count(host.servers.regular, "regular server") + ", " +
    number.format(host.servers.revocable) + " revocable" +
    (host.servers.evicting ? ", " + number.format(host.servers.evicting) + " being evicted" : "");
}

function useBar(use) {
  const bar = el("div", {class: "bar", "aria-hidden": "true"});
  const whole = Math.max(use.capacity, PARTS.reduce((sum, part) => sum + Math.max(use[part], 0), 0));
  for (const part of PARTS) {
    if (whole <= 0 || use[part] <= 0) continue;
    const piece = el("i", {class: part});
    piece.style.width = 100 * use[part] / whole + "%";
    bar.append(piece);
  }
  return bar;
}

function plainTable(heads, rows) {
  const made = table(heads, rows);
  made.classList.remove("stack");
  return made;
}

function hostPage({host, servers}) {
  const classes = inOrder(Object.keys(host.resources));
  const columns = ["capacity", "free", ...PARTS, "promised"];
  return [
    el("p", {}, el("strong", {}, host.name), " \u2013 " + stateOf(host) + (host.aggregates.length ? ", in " + host.aggregates.map(shown).join(", ") : "")),
    el("p", {class: "quiet"}, "room: " + host.res_type + "; read ", moment(host.read_at), host.estimated ? " (in bulk only)" : ""),
    el("h3", {}, "Room"),
    el("div", {class: "scroll"}, plainTable([{name: ""}, ...classes.map((name) => ({name: NAMES[name] ?? name, class: "number"}))],
      columns.map((column) => [[el("span", {class: "key " + column}), " " + (MEANING[column] ?? column)],
        ...classes.map((name) => amount(name, host.resources[name][column]))]))),
    el("h3", {}, count(servers.length, "server")),
    servers.length ? el("div", {class: "scroll"}, table([{name: "Server"}, {name: "Type"}, {name: "Status"}, {name: "Holds"}, {name: "Project"}],
      servers.sort((a, b) => a.revocable - b.revocable || naturally(a.name, b.name)).map((server) => [
        [link("server", server.id, server.name || server.id), el("br"), el("span", {class: "quiet mono"}, server.id)],
        [el("span", {class: "pill" + (server.evicting ? " bad" : server.revocable ? " warn" : "")},
          server.evicting ? "evicting" : server.lent_by ? "lent" : server.revocable ? "revocable" : "regular"),
        server.revocable_because ? [el("br"), el("span", {class: "quiet"}, server.revocable_because)] : null],
        server.status + (server.task_state ? " (" + shown(server.task_state) + ")" : "") + (server.locked ? ", locked" : "") + (server.protected ? ", protected: " + shown(server.protected) : ""),
        amounts(server.resources), projectCell(server)]))) : null,
  ].flat();
}
