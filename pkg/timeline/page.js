"use strict";
(() => {
  const $ = (q) => document.querySelector(q);
  const frame = $(".frame"), sheet = $(".sheet"), tip = $("#tip"), level = $("output");
  const svg = "http://www.w3.org/2000/svg";
  const from = +frame.dataset.from, until = +frame.dataset.until, offset = +frame.dataset.offset;
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800].map((s) => s * 1000);
  const side = 250, most = Math.max(8, Math.min(400, (until - from) / 5000));
  let zoom = 1, at = null;

  const two = (n) => String(n).padStart(2, "0");
  const clock = (ms, step) => {
    const d = new Date(ms + offset);
    if (step >= 86400000) return d.getUTCDate() + ". " + (d.getUTCMonth() + 1) + ".";
    return two(d.getUTCHours()) + ":" + two(d.getUTCMinutes()) + (step < 60000 ? ":" + two(d.getUTCSeconds()) : "");
  };
  const node = (name, attrs, text) => {
    const n = document.createElementNS(svg, name);
    for (const k in attrs) n.setAttribute(k, attrs[k]);
    if (text) n.textContent = text;
    return n;
  };

  // The ticks of the axis and the lines below them, as many as there is room for.
  const ticks = () => {
    const room = (frame.clientWidth - side) * zoom / 110, whole = until - from;
    const step = steps.find((s) => whole / s <= room) || steps[steps.length - 1];
    const axis = $("#axis"), grid = $(".grid"), bottom = $("#chart").getAttribute("height");
    axis.replaceChildren();
    grid.replaceChildren();
    for (let t = Math.ceil((from + offset) / step) * step - offset; t <= until; t += step) {
      const x = (t - from) / whole * 100 + "%", share = (t - from) / whole;
      axis.append(node("text", { x, y: 17, "text-anchor": share < 0.02 / zoom ? "start" : share > 1 - 0.03 / zoom ? "end" : "middle" }, clock(t, step)));
      grid.append(node("line", { x1: x, x2: x, y1: 0, y2: bottom }));
    }
  };
  // setZoom keeps the place under x, in pixels from the chart's left edge, where it is.
  const setZoom = (z, x) => {
    z = Math.min(most, Math.max(1, z));
    const base = frame.clientWidth - side;
    if (x === undefined) x = base / 2;
    const place = (frame.scrollLeft + x) / (base * zoom);
    zoom = z;
    sheet.style.width = z === 1 ? "" : side + base * z + "px";
    frame.scrollLeft = place * base * z - x;
    level.textContent = (z < 10 ? Math.round(z * 10) / 10 : Math.round(z)) + "×";
    ticks();
  };

  // The whole of an item, beside it.
  const words = (item) => {
    const t = item.querySelector("title");
    if (t) { // or the browser shows it a second time
      item.setAttribute("aria-label", t.textContent);
      t.remove();
    }
    return item.getAttribute("aria-label") || "";
  };
  const show = (item) => {
    tip.textContent = item ? words(item) : "";
    if (!item) return;
    const b = item.getBoundingClientRect(), w = tip.offsetWidth, h = tip.offsetHeight;
    const left = Math.max(b.left, frame.getBoundingClientRect().left + side);
    tip.style.left = Math.max(8, Math.min(left, innerWidth - w - 8)) + "px";
    tip.style.top = (b.bottom + h + 14 < innerHeight ? b.bottom + 8 : Math.max(8, b.top - h - 8)) + "px";
  };
  const items = [...document.querySelectorAll(".chart .lane")].map((l) => [...l.querySelectorAll(".i")]).filter((l) => l.length);
  const start = (i) => i.querySelector("rect, use, line").getBoundingClientRect().left;
  const go = (item) => {
    if (at) at.removeAttribute("tabindex");
    at = item;
    words(at);
    at.setAttribute("tabindex", "-1");
    at.focus({ preventScroll: true });
    const b = at.getBoundingClientRect(), f = frame.getBoundingClientRect();
    if (b.left < f.left + side + 20 || b.left > f.right - 40) frame.scrollLeft += b.left - f.left - side - 60;
    if (b.top < f.top + 40) frame.scrollTop += b.top - f.top - 60;
    if (b.bottom > f.bottom - 20) frame.scrollTop += b.bottom - f.bottom + 60;
    show(at);
  };
  const along = (by) => {
    const lane = items.find((l) => l.includes(at));
    if (!lane) return go(items[0][0]);
    const order = lane.map((i) => [start(i), i]).sort((a, b) => a[0] - b[0]).map((p) => p[1]);
    go(order[Math.min(order.length - 1, Math.max(0, order.indexOf(at) + by))]);
  };
  const across = (by) => {
    const n = items.findIndex((l) => l.includes(at));
    if (n < 0) return go(items[0][0]);
    const lane = items[Math.min(items.length - 1, Math.max(0, n + by))], x = start(at);
    go(lane.reduce((best, i) => Math.abs(start(i) - x) < Math.abs(start(best) - x) ? i : best));
  };
  const keys = {
    "+": () => setZoom(zoom * 1.5), "=": () => setZoom(zoom * 1.5), "-": () => setZoom(zoom / 1.5), "0": () => setZoom(1),
    ArrowRight: () => along(1), ArrowLeft: () => along(-1), ArrowDown: () => across(1), ArrowUp: () => across(-1),
    Escape: () => { show(null); frame.focus(); },
  };
  frame.addEventListener("keydown", (e) => {
    const act = !e.ctrlKey && !e.metaKey && !e.altKey && items.length && keys[e.key];
    if (act) { e.preventDefault(); act(); }
  });
  frame.addEventListener("pointerover", (e) => show(e.target.closest(".i")));
  frame.addEventListener("pointerleave", () => show(null));
  frame.addEventListener("focusout", () => show(null));
  frame.addEventListener("wheel", (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    setZoom(zoom * Math.exp(-e.deltaY / 300), e.clientX - frame.getBoundingClientRect().left - side);
  }, { passive: false });
  let drag = null;
  frame.addEventListener("pointerdown", (e) => { if (e.button === 0 && e.target.closest(".chart")) drag = [e.clientX, frame.scrollLeft]; });
  addEventListener("pointermove", (e) => { if (drag) frame.scrollLeft = drag[1] + drag[0] - e.clientX; });
  addEventListener("pointerup", () => { drag = null; });
  addEventListener("resize", () => setZoom(zoom));
  $("#in").addEventListener("click", () => setZoom(zoom * 1.5));
  $("#out").addEventListener("click", () => setZoom(zoom / 1.5));
  $("#fit").addEventListener("click", () => setZoom(1));

  // A page that is kept fresh comes again where it was looked at.
  const kept = new URLSearchParams(location.hash.slice(1));
  $(".zoom").hidden = $(".keys").hidden = false;
  setZoom(+kept.get("z") || 1);
  if (kept.has("x")) {
    frame.scrollLeft = +kept.get("x");
    frame.scrollTop = +kept.get("y");
    scrollTo(0, +kept.get("t"));
  }
  const again = +frame.dataset.again;
  if (again) setInterval(() => {
    if (document.hidden || drag || tip.textContent) return;
    history.replaceState(null, "", "#" + new URLSearchParams({ z: zoom, x: frame.scrollLeft, y: frame.scrollTop, t: scrollY }));
    location.reload();
  }, again);
})();
