// ---- All of it together. ----

const STATUS_EVERY = 5000, PANELS_EVERY = 30000, HOSTS_EVERY = 30000;
/// After news, a large cloud is not read again at once.
const HOSTS_SOON = 1500, LARGE = 2000, HOSTS_LATER = 10000;

const cloud = new Cloud();
const requests = new Requests(onNews);

function onNews(kind) {
  if (kind === "reaper" || kind === "reset") poll();
  if (onNews.due) return;
  onNews.due = setTimeout(() => {
    onNews.due = undefined;
    cloud.reload().catch(() => {});
  }, cloud.hosts.length > LARGE ? HOSTS_LATER : HOSTS_SOON);
}

/// Who is not let in is asked for a token, once.
function onRefused(error) {
  if (error.status !== 401) return tellTrouble(error);
  $("sign-in").hidden = false;
  stopReading();
  if (!$("ask").open) onSignIn();
}

async function poll() {
  try {
    await refreshStatus();
  } catch (error) {
    onRefused(error);
  }
}

let timers = [];

function stopReading() {
  for (const timer of timers) clearInterval(timer);
  timers = [];
}

/// A hidden page asks for nothing.
const whenSeen = (work) => () => { if (!document.hidden) work().catch(onRefused); };

async function startReading() {
  stopReading();
  timers = [setInterval(whenSeen(poll), STATUS_EVERY), setInterval(whenSeen(refreshPanels), PANELS_EVERY),
    setInterval(whenSeen(() => cloud.reload()), HOSTS_EVERY)];
  requests.events.start();
  if (location.hash.includes("/")) showAddressed();
  await Promise.all([requests.reload(), cloud.reload(), refreshPanels()]).catch(onRefused);
}

function closable(dialog, onClose) {
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    const box = dialog.getBoundingClientRect();
    const inside = event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
    if (event.target === dialog && !inside) dialog.close();
  });
  if (onClose) dialog.addEventListener("close", onClose);
}

$("pause").addEventListener("click", onPause);
$("resume").addEventListener("click", onResume);
$("sign-in").addEventListener("click", onSignIn);
$("plan-form").addEventListener("submit", onPlan);
$("explain-form").addEventListener("submit", onExplain);
$("timeline-span").addEventListener("change", () => refreshTimeline().catch(onRefused));
window.addEventListener("hashchange", showAddressed);
$("risk").addEventListener("toggle", onRisk);
closable($("record"), onRecordClosed);
closable($("ask"));
document.addEventListener("visibilitychange", () => { if (!document.hidden && timers.length) poll(); });
cloud.describe(null);

/// Until it answers.
async function begin() {
  try {
    await refreshStatus();
  } catch (error) {
    onRefused(error);
    if (error.status !== 401) setTimeout(begin, STATUS_EVERY);
    return;
  }
  startReading();
}

begin();
