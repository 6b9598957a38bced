// ---- How the reaper is; pause and resume; the token. ----

const current = {status: null};

function tellTrouble(error) {
  $("trouble").hidden = !error;
  $("trouble").className = "bad";
  fill($("trouble"), error ? error.message : "");
}

function mainChip(status) {
  if (status.dry_run) return ["warn", "dry run: nothing is deleted"];
  if (status.paused) return ["bad", "paused"];
  if (status.breaker) return ["bad", "circuit breaker open"];
  if (status.held_back) return ["warn", "held back"];
  if (!status.ready) return ["warn", "not ready"];
  if (!status.serving) return ["", "stands by"];
  if (status.no_help) return ["warn", "can't help now"];
  return ["good", "working"];
}

function cacheChip({cache, now}) {
  if (!cache) return ["warn", "cloud not read yet"];
  const age = new Date(now) - new Date(cache.oldest_read_at);
  return [cache.events_flow ? "" : "warn", "cache " + lasting(age) + " old" + (cache.events_flow ? "" : ", no events")];
}

function drawStatus(status) {
  current.status = status;
  const chips = [
    mainChip(status),
    [status.broker.connected ? "" : "bad", status.broker.connected ? "broker connected" : "no broker", status.broker.detail],
    [...cacheChip(status), status.cache?.detail],
    ["", count(status.in_flight, "request") + " under way"],
    ["", number.format(status.served) + " served"],
    ["", "strategy " + shown(status.strategy)],
    ...(status.left_alone.length ? [["warn", number.format(status.left_alone.length) + " left alone",
      status.left_alone.map((each) => projectText(each) + " " + each.shape).join("; ")]] : []),
    ...(status.notices.length ? [["warn", number.format(status.notices.length) + " under notice",
      status.notices.map((each) => each.name + " on " + each.host + " until " + each.until).join("; ")]] : []),
    status.you.may_act ? ["", status.you.principal ? "you: " + shown(status.you.principal) : "you may act"] : ["", "read only"],
  ];
  fill($("chips"), chips.map(([kind, text, title]) => el("li", {class: kind, title: title ? shown(title) : null}, text)));
  fill($("machine"), status.machine);
  document.title = (status.paused ? "\u23f8 " : "") + "reaper " + shown(status.machine);
  const stopped = status.paused ?? status.breaker ?? status.held_back ?? (status.ready ? status.no_help : status.line);
  $("stopped").hidden = !stopped;
  $("stopped").className = status.paused || status.breaker ? "bad" : "warn";
  fill($("stopped"), stopped ? "No servers are deleted now: " + shown(stopped) : "");
  const stoppable = status.you.may_act && !status.dry_run;
  $("pause").hidden = !stoppable || Boolean(status.paused);
  $("resume").hidden = !stoppable || !(status.paused || status.breaker);
  drawNotices(status);
  fill($("about"), "reaper " + shown(status.program_version) + " \u2013 times are your browser's; point at one for UTC.");
}

async function refreshStatus() {
  drawStatus(await ask("/v1/status"));
  tellTrouble(null);
}

/// Asks for one line; `go` does it, and says in an error what is wrong with it.
function askFor({title, text, label, button, secret, go}) {
  const dialog = $("ask"), input = $("ask-input"), form = dialog.querySelector("form");
  fill($("ask-title"), title);
  fill($("ask-text"), text);
  fill($("ask-go"), button);
  fill($("ask-label").querySelector("span"), label ?? "");
  $("ask-label").hidden = !label;
  $("ask-wrong").hidden = true;
  input.type = secret ? "password" : "text";
  input.value = "";
  form.onsubmit = async (event) => {
    event.preventDefault();
    $("ask-go").disabled = true;
    try {
      await go(input.value.trim());
      dialog.close();
    } catch (error) {
      fill($("ask-wrong"), error.message);
      $("ask-wrong").hidden = false;
    } finally {
      $("ask-go").disabled = false;
      input.value = secret ? "" : input.value;
    }
  };
  if (!dialog.open) dialog.showModal();
}

function onPause() {
  askFor({
    title: "Pause the reaper", button: "Pause", label: "Reason",
    text: "The reaper deletes no servers from now on, not even for what is under way, until it is resumed. Nor does any other that shares its journal.",
    go: async (reason) => { await ask("/v1/pause", {reason}); await refreshStatus(); },
  });
}

function onResume() {
  askFor({
    title: "Resume", button: "Resume", text: "The reaper " + shown(current.status?.paused ?? current.status?.breaker ?? "") + ". It may delete servers again from now on.",
    go: async () => { await ask("/v1/resume", {}); await refreshStatus(); },
  });
}

function onSignIn() {
  askFor({
    title: "Token of Keystone", button: "Use it", label: "Token", secret: true,
    text: "This reaper answers who shows a token: openstack token issue -f value -c id. It is kept in this page's memory only, and forgotten when you leave.",
    go: async (given) => {
      const before = token;
      token = given;
      try {
        await refreshStatus();
      } catch (error) {
        token = before;
        throw error;
      }
      startReading();
    },
  });
}
