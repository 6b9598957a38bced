// ---- What would it do now? ----

function otherResources(text) {
  const all = {};
  for (const part of text.split(",").map((each) => each.trim()).filter(Boolean)) {
    const [, name, n] = /^([A-Z][A-Z0-9_]*)\s*[=:]\s*(\d{1,10})$/.exec(part) ?? [];
    if (!name) throw new Error("other resources: expected CLASS=AMOUNT, found " + shown(part));
    all[name] = Number(n);
  }
  return all;
}

function resourcesOf(of) {
  const resources = {};
  for (const name of ["VCPU", "MEMORY_MB", "DISK_GB"]) if (Number(of(name)) > 0) resources[name] = Number(of(name));
  Object.assign(resources, otherResources(of("other")));
  if (!Object.keys(resources).length) throw new Error("the servers ask for nothing");
  return resources;
}

function bodyOf(form) {
  const of = (name) => form.elements[name].value.trim();
  const what = of("flavor") ? {flavor: of("flavor")} : {resources: resourcesOf(of)};
  return {project: of("project"), slots: Number(of("slots")), ...what, ...(of("zone") ? {zone: of("zone")} : {})};
}

async function onPlan(event) {
  event.preventDefault();
  const answer = $("plan-answer"), button = event.target.querySelector("button");
  button.disabled = true;
  try {
    const body = bodyOf(event.target);
    fill(answer, el("p", {class: "quiet"}, "Planning \u2026"));
    const plan = await ask("/v1/plan", body);
    fill(answer, decisionPage(plan.decision), plan.remarks.map((remark) => el("p", {class: "quiet"}, remark)));
  } catch (error) {
    fill(answer, el("p", {class: "verdict bad"}, error.message));
  } finally {
    button.disabled = false;
  }
}
