// ---- Asking the API. The token is in this variable, and nowhere else. ----

let token = "";

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function headers(more) {
  return {...(token ? {"X-Auth-Token": token} : {}), ...more};
}

async function refusedBy(answer) {
  let why = "the reaper answers " + answer.status;
  try {
    why = (await answer.json()).error.message ?? why;
  } catch { /* it says no more */ }
  return new Refused(answer.status, why);
}

/// The JSON that it answers; a Refused if it does not.
async function ask(path, body) {
  const options = body === undefined ? {headers: headers()} :
    {method: "POST", headers: headers({"Content-Type": "application/json"}), body: JSON.stringify(body)};
  let answer;
  try {
    answer = await fetch(path, {...options, cache: "no-store", redirect: "error"});
  } catch {
    throw new Refused(0, "the reaper can't be reached");
  }
  if (!answer.ok) throw await refusedBy(answer);
  return answer.json();
}

/// All pages of a list, as they come.
async function askAll(path, name, onPage) {
  for (let next = path, pages = 0; next && pages < 1000; ++pages) {
    const page = await ask(next);
    onPage(page[name], page);
    next = page[name + "_links"]?.find((link) => link.rel === "next")?.href;
  }
}

// ---- Events. EventSource can't send a token, so its format is read here. ----

class Events {
  constructor(onEvent, onState) {
    this.onEvent = onEvent;
    this.onState = onState;
    this.lastId = "";
    this.wanted = 0;
  }
  start() {
    this.run(++this.wanted);
  }
  async run(turn) {
    for (let wait = 1000; turn === this.wanted; wait = Math.min(wait * 2, 30000)) {
      try {
        await this.read(turn, () => { wait = 1000; });
      } catch (error) {
        if (error instanceof Refused && error.status === 401) {
          this.onState("no token");
          return;
        }
      }
      if (turn !== this.wanted) return;
      this.onState("lost");
      await new Promise((resume) => setTimeout(resume, wait));
    }
  }
  async read(turn, onOpen) {
    const answer = await fetch("/v1/events", {
      headers: headers({Accept: "text/event-stream", ...(this.lastId ? {"Last-Event-ID": this.lastId} : {})}),
      cache: "no-store",
    });
    if (!answer.ok) throw await refusedBy(answer);
    onOpen();
    this.onState("live");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const {value, done} = await reader.read();
      if (turn !== this.wanted) {
        reader.cancel();
        return;
      }
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) this.take(block);
    }
  }
  take(block) {
    let kind = "message", data = "";
    for (const line of block.split("\n")) {
      const [name, value] = [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()];
      if (name === "id") this.lastId = value;
      if (name === "event") kind = value;
      if (name === "data") data += value;
    }
    if (data) this.onEvent(kind, JSON.parse(data));
  }
}
