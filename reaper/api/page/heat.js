// ---- The heat map: one cell for each host, on a canvas. ----

const PARTS = ["regular", "revocable", "lent", "evicting", "reserved", "other"];
const SMALLEST = 4, LARGEST = 30;

class HeatMap {
  constructor(canvas, onHost, onOpen) {
    this.canvas = canvas;
    this.onHost = onHost;
    this.onOpen = onOpen;
    this.hosts = [];
    this.of = "VCPU";
    this.show = "use";
    this.found = null;
    this.at = -1;
    canvas.addEventListener("pointermove", (event) => this.point(this.under(event)));
    canvas.addEventListener("pointerdown", (event) => this.point(this.under(event)));
    canvas.addEventListener("click", (event) => this.open(this.under(event)));
    canvas.addEventListener("pointerleave", () => { if (document.activeElement !== canvas) this.point(-1); });
    canvas.addEventListener("focus", () => { if (this.at < 0 && this.hosts.length) this.point(0); });
    canvas.addEventListener("keydown", (event) => this.key(event));
    // Drawing changes the canvas' size, which must not happen while sizes are told.
    new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }
  set(hosts) {
    const kept = this.hosts[this.at]?.id;
    this.hosts = hosts;
    this.at = kept === undefined ? -1 : hosts.findIndex((host) => host.id === kept);
    this.draw();
    this.onHost(this.hosts[this.at] ?? null);
  }
  /// As large as fits the room that there is, and no smaller than can be seen.
  layout() {
    const width = Math.max(this.canvas.parentElement.clientWidth, 40);
    const height = Math.max(Math.min(innerHeight * .56, width), 160);
    const n = Math.max(this.hosts.length, 1);
    let cell = Math.min(LARGEST, Math.floor(Math.sqrt(width * height / n)));
    while (cell > SMALLEST && Math.ceil(n / Math.floor(width / cell)) * cell > height) --cell;
    this.cell = Math.max(cell, SMALLEST);
    this.columns = Math.max(1, Math.floor(width / this.cell));
    return {width, height: Math.ceil(n / this.columns) * this.cell};
  }
  colors() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue("--" + name).trim();
    return Object.fromEntries([...PARTS, "free", "promised", "ink", "quiet", "card", "focus"].map((name) => [name, of(name)]));
  }
  draw() {
    if (!this.hosts.length) return;
    const {width, height} = this.layout();
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.height = height + "px";
    const paint = this.canvas.getContext("2d");
    paint.setTransform(scale, 0, 0, scale, 0, 0);
    const colors = this.colors();
    this.hosts.forEach((host, i) => this.drawHost(paint, colors, host, i));
    if (this.at >= 0) this.frame(paint, colors.focus, this.at, 2);
  }
  place(i) {
    return [(i % this.columns) * this.cell, Math.floor(i / this.columns) * this.cell];
  }
  drawHost(paint, colors, host, i) {
    const gap = this.cell > SMALLEST ? 1 : 1 / (devicePixelRatio || 1);
    const size = this.cell - gap;
    const [x, y] = this.place(i);
    const use = host.resources[this.of];
    paint.globalAlpha = this.found && !this.found.has(host.id) ? .18 : 1;
    paint.fillStyle = colors.free;
    paint.fillRect(x, y, size, size);
    if (use && this.show === "use") this.stack(paint, colors, use, x, y, size);
    else if (use) this.shade(paint, colors, use, x, y, size);
    if (host.state !== "up") this.cross(paint, colors, x, y, size);
    if (use && use.promised > 0 && this.show === "use") {
      paint.strokeStyle = colors.promised;
      paint.lineWidth = this.cell >= 8 ? 2 : 1;
      const inset = paint.lineWidth / 2;
      paint.strokeRect(x + inset, y + inset, size - 2 * inset, size - 2 * inset);
    }
    paint.globalAlpha = 1;
  }
  stack(paint, colors, use, x, y, size) {
    const whole = Math.max(use.capacity, PARTS.reduce((sum, part) => sum + Math.max(use[part], 0), 0));
    let sum = 0;
    for (const part of PARTS) {
      if (whole <= 0 || use[part] <= 0) continue;
      const below = this.snapped(y + size - size * sum / whole);
      sum += use[part];
      const above = this.snapped(y + size - size * sum / whole);
      paint.fillStyle = colors[part];
      paint.fillRect(x, above, size, below - above);
    }
  }
  /// To whole pixels: edges between colors are sharp.
  snapped(y) {
    const scale = devicePixelRatio || 1;
    return Math.round(y * scale) / scale;
  }
  shade(paint, colors, use, x, y, size) {
    const share = use.capacity > 0 ? Math.min(Math.max(use[this.show], 0) / use.capacity, 1) : 0;
    const before = paint.globalAlpha;
    paint.globalAlpha = before * (share > 0 ? .2 + .8 * share : 0);
    paint.fillStyle = this.show === "free" ? colors.promised : colors[this.show];
    paint.fillRect(x, y, size, size);
    paint.globalAlpha = before;
  }
  cross(paint, colors, x, y, size) {
    paint.strokeStyle = colors.ink;
    paint.lineWidth = 1;
    paint.beginPath();
    paint.moveTo(x, y);
    paint.lineTo(x + size, y + size);
    paint.moveTo(x + size, y);
    paint.lineTo(x, y + size);
    paint.stroke();
  }
  frame(paint, color, i, width) {
    const [x, y] = this.place(i);
    const out = Math.max(this.cell, 8), shift = (out - this.cell) / 2;
    paint.lineWidth = width;
    paint.strokeStyle = color;
    paint.strokeRect(x - shift + width / 2, y - shift + width / 2, out - width, out - width);
  }
  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / this.cell);
    const i = Math.floor((event.clientY - box.top) / this.cell) * this.columns + column;
    return column >= 0 && column < this.columns && i >= 0 && i < this.hosts.length ? i : -1;
  }
  point(i) {
    if (i === this.at) return;
    this.at = i;
    this.draw();
    this.onHost(this.hosts[i] ?? null);
  }
  open(i) {
    if (i < 0) return;
    this.point(i);
    this.onOpen(this.hosts[i]);
  }
  key(event) {
    const last = this.hosts.length - 1;
    const to = {ArrowRight: this.at + 1, ArrowLeft: this.at - 1, ArrowDown: this.at + this.columns,
      ArrowUp: this.at - this.columns, Home: 0, End: last,
      PageDown: this.at + 10 * this.columns, PageUp: this.at - 10 * this.columns}[event.key];
    if (event.key === "Enter" || event.key === " ") this.open(this.at);
    else if (to === undefined) return;
    else if (to >= 0 && to <= last) this.point(to);
    else if (event.key === "PageDown") this.point(last);
    else if (event.key === "PageUp") this.point(0);
    event.preventDefault();
  }
}
