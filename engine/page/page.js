"use strict";
(() => {
const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const nodes = data.nodes, edges = data.edges, types = data.graph.types;
const canvas = $("graph"), ctx = canvas.getContext("2d");
const START = 1200;            // nodes that are drawn at first
const SEP = "<SEP>";

// What is drawn: the best connected nodes, those that were opened, and types.
let amount = Math.min(nodes.length, START);
const opened = new Set(), hiddenTypes = new Set();
let visible = [], visibleEdges = [];
let selected = -1, hovered = -1, near = new Set();
const camera = { x: 0, y: 0, k: 1 };
let width = 0, height = 0, ratio = 1, dirty = false;

const adjacent = nodes.map(() => []);
edges.forEach((e, i) => { adjacent[e.a].push(i); adjacent[e.b].push(i); });
const other = (e, i) => e.a === i ? e.b : e.a;

// Colours: the twelve most frequent types have their own.
const PALETTE = [
  ["#3b6fd4", "#7ea6ff"], ["#d9822b", "#ffb066"], ["#2e9b5f", "#64d69a"], ["#c2405f", "#ff8aa6"],
  ["#7d55c7", "#b899ff"], ["#1c97a8", "#5fd3e3"], ["#a8871a", "#e6c75a"], ["#b0549c", "#ee9adb"],
  ["#5f7d1f", "#a9cc5e"], ["#a05a3a", "#dda080"], ["#4a6a8a", "#9bbcdc"], ["#8c3fa0", "#d592e6"],
];
const OTHER = ["#8a90a0", "#8d94a8"];
let dark = matchMedia("(prefers-color-scheme: dark)").matches;
const colour = t => (types[t] === "UNKNOWN" ? OTHER : PALETTE[t] || OTHER)[dark ? 1 : 0];

const number = n => n.toLocaleString("en");
const radius = n => 3 + Math.sqrt(n.d) * 1.1;
// Nodes grow when one comes nearer, and are smaller where many are drawn.
let whole = 1;                 // camera.k that shows everything
const scale = () => Math.min(1.7, Math.max(0.45, 26 / Math.sqrt(visible.length + 1))) *
  Math.min(3, Math.max(0.5, Math.pow(camera.k / whole, 0.4)));

function element(tag, text, attributes) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  return e;
}

function dot(t) {
  const e = element("span", undefined, { class: "dot" });
  e.style.background = colour(t);
  return e;
}

// choose works out what is drawn.
function choose() {
  visible = [];
  const shown = new Uint8Array(nodes.length);
  nodes.forEach((n, i) => {
    if ((i < amount || opened.has(i)) && (!hiddenTypes.has(n.t) || i === selected)) {
      shown[i] = 1;
      visible.push(i);
    }
  });
  visibleEdges = edges.filter(e => shown[e.a] && shown[e.b]);
  const g = data.graph;
  let text = `${number(visible.length)} of ${number(g.entities)} entities and ${number(visibleEdges.length)} of ` +
    `${number(g.relations)} relations are drawn.`;
  if (nodes.length < g.entities) text += ` The page holds the ${number(nodes.length)} best connected.`;
  if (g.models) text += ` Made offline, at least in part: ${g.models}.`;
  $("status").textContent = text;
  $("count").textContent = number(amount);
  paint();
}

function paint() {
  if (dirty) return;
  dirty = true;
  requestAnimationFrame(draw);
}

function resize() {
  ratio = window.devicePixelRatio || 1;
  width = canvas.clientWidth;
  height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  paint();
}

const screenX = x => (x - camera.x) * camera.k + width / 2;
const screenY = y => (y - camera.y) * camera.k + height / 2;

function draw() {
  dirty = false;
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink"), back = style.getPropertyValue("--back");
  const edge = style.getPropertyValue("--edge");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = back;
  ctx.fillRect(0, 0, width, height);
  const focus = hovered >= 0 ? hovered : selected;
  const focused = focus >= 0;
  const inView = (x, y) => x > -60 && y > -60 && x < width + 60 && y < height + 60;

  ctx.lineWidth = 1;
  ctx.strokeStyle = `rgba(${edge}, ${focused ? 0.08 : Math.min(0.34, 0.1 + 150 / (visibleEdges.length + 200))})`;
  ctx.beginPath();
  for (const e of visibleEdges) {
    const a = nodes[e.a], b = nodes[e.b];
    const ax = screenX(a.x), ay = screenY(a.y), bx = screenX(b.x), by = screenY(b.y);
    if (Math.max(ax, bx) < 0 || Math.min(ax, bx) > width || Math.max(ay, by) < 0 || Math.min(ay, by) > height) continue;
    ctx.moveTo(ax, ay);
    ctx.lineTo(bx, by);
  }
  ctx.stroke();
  if (focused) {
    ctx.strokeStyle = `rgba(${edge}, 0.55)`;
    ctx.lineWidth = 1.4;
    ctx.beginPath();
    for (const i of adjacent[focus]) {
      const o = other(edges[i], focus);
      if (!isShown(o)) continue;
      ctx.moveTo(screenX(nodes[focus].x), screenY(nodes[focus].y));
      ctx.lineTo(screenX(nodes[o].x), screenY(nodes[o].y));
    }
    ctx.stroke();
  }

  const size = scale(), rim = visible.length < 4000;
  for (let v = visible.length - 1; v >= 0; v--) {      // the best connected on top
    const i = visible[v], n = nodes[i], x = screenX(n.x), y = screenY(n.y);
    if (!inView(x, y)) continue;
    const strong = !focused || i === focus || near.has(i);
    ctx.globalAlpha = strong ? 1 : 0.18;
    ctx.fillStyle = colour(n.t);
    ctx.beginPath();
    ctx.arc(x, y, Math.max(1.5, radius(n) * size), 0, 2 * Math.PI);
    ctx.fill();
    if (i === selected || rim) {
      ctx.lineWidth = i === selected ? 2.5 : 1;
      ctx.strokeStyle = i === selected ? ink : back;
      ctx.stroke();
    }
  }
  ctx.globalAlpha = 1;
  labels(focus, ink, back, size, inView);
}

// labels writes names where there is room, the most important first.
function labels(focus, ink, back, size, inView) {
  ctx.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  ctx.lineJoin = "round";
  ctx.lineWidth = 3.5;
  const taken = new Set();
  let left = 160;
  const label = (i, always) => {
    const n = nodes[i], x = screenX(n.x), y = screenY(n.y) + Math.max(1.5, radius(n) * size) + 2;
    if (!inView(x, y)) return;
    const name = n.n.length > 34 ? n.n.slice(0, 33) + "\u2026" : n.n;
    const half = ctx.measureText(name).width / 2 + 4, cells = [];
    for (let cx = Math.floor((x - half) / 24); cx <= Math.floor((x + half) / 24); cx++) {
      for (let cy = Math.floor(y / 16); cy <= Math.floor((y + 14) / 16); cy++) cells.push(cx + "," + cy);
    }
    if (!always && cells.some(c => taken.has(c))) return;
    cells.forEach(c => taken.add(c));
    ctx.strokeStyle = back;
    ctx.strokeText(name, x, y);
    ctx.fillStyle = ink;
    ctx.fillText(name, x, y);
    left--;
  };
  if (focus >= 0) {
    label(focus, true);
    for (const i of [...near].sort((a, b) => a - b)) if (left > 0 && isShown(i)) label(i, false);
    return;
  }
  let v = 0;
  for (const i of visible) {
    if (left <= 0) break;
    if (v++ < 40 || radius(nodes[i]) * size > 6) label(i, false);
  }
}

const isShown = i => (i < amount || opened.has(i)) && (!hiddenTypes.has(nodes[i].t) || i === selected);

function fit() {
  if (visible.length === 0) { camera.x = camera.y = 0; camera.k = 0.1; return paint(); }
  let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity;
  for (const i of visible) {
    const n = nodes[i];
    x0 = Math.min(x0, n.x); x1 = Math.max(x1, n.x);
    y0 = Math.min(y0, n.y); y1 = Math.max(y1, n.y);
  }
  camera.x = (x0 + x1) / 2;
  camera.y = (y0 + y1) / 2;
  camera.k = whole = Math.min(1, (width - 90) / (x1 - x0 + 1), (height - 90) / (y1 - y0 + 1));
  paint();
}

function zoom(factor, x = width / 2, y = height / 2) {
  const k = Math.min(8, Math.max(0.0005, camera.k * factor));
  camera.x += (x - width / 2) * (1 / camera.k - 1 / k);
  camera.y += (y - height / 2) * (1 / camera.k - 1 / k);
  camera.k = k;
  paint();
}

function neighbours(i) {
  near = new Set();
  if (i >= 0) for (const e of adjacent[i]) near.add(other(edges[e], i));
}

// select opens an entity: its details, and those neighbours that are not drawn.
function select(i, move) {
  selected = i;
  neighbours(i);
  if (i >= 0) {
    opened.add(i);
    for (const o of near) opened.add(o);
  }
  choose();
  details();
  const hash = i >= 0 ? "#" + encodeURIComponent(nodes[i].n) : "";
  if (decodeURIComponentSafe(location.hash) !== hash.slice(1) && hash !== location.hash) {
    history.replaceState(null, "", hash || location.pathname + location.search);
  }
  if (i >= 0 && move) {
    camera.x = nodes[i].x;
    camera.y = nodes[i].y;
    let far = 200;
    for (const o of near) far = Math.max(far, Math.hypot(nodes[o].x - nodes[i].x, nodes[o].y - nodes[i].y));
    camera.k = Math.min(1, Math.max(camera.k, Math.min(width, height) / (3.2 * far)));
    const panel = $("details");
    if (width > 700) camera.x += panel.offsetWidth / 2 / camera.k;
    paint();
  }
}

function decodeURIComponentSafe(s) {
  try { return decodeURIComponent(s.replace(/^#/, "")); } catch { return ""; }
}

function link(i) {
  const a = element("a", nodes[i].n, { href: "#" + encodeURIComponent(nodes[i].n) });
  a.prepend(dot(nodes[i].t));
  a.addEventListener("click", ev => { ev.preventDefault(); select(i, true); });
  return a;
}

function details() {
  const box = $("details");
  box.textContent = "";
  box.hidden = selected < 0;
  if (selected < 0) return;
  const n = nodes[selected];
  const close = element("button", "\u00d7", { id: "close", "aria-label": "Close", title: "Close ( Esc )" });
  close.addEventListener("click", () => select(-1));
  const meta = element("p", `${types[n.t]}, ${n.d === 1 ? "1 relation" : number(n.d) + " relations"}`, { class: "meta" });
  meta.prepend(dot(n.t));
  box.append(close, element("h2", n.n), meta);
  const parts = (n.s || "").split(SEP).map(s => s.trim()).filter(Boolean);
  const say = list => list.map(s => element("p", s));
  box.append(...say(parts.slice(0, 12)));
  if (parts.length > 12) {
    const rest = element("button", `Show ${number(parts.length - 12)} more descriptions`, { class: "wide" });
    rest.addEventListener("click", () => rest.replaceWith(...say(parts.slice(12))));
    box.append(rest);
  }
  const list = adjacent[selected].map(e => [other(edges[e], selected), edges[e]]).sort((a, b) => b[1].w - a[1].w || a[0] - b[0]);
  if (list.length > 0) {
    box.append(element("h3", list.length < n.d ? `Neighbours (${list.length} of ${n.d})` : "Neighbours"));
    const ul = element("ul");
    const more = element("button", "Show all", { class: "wide" });
    const add = from => {
      for (const [o, e] of list.slice(from[0], from[1])) {
        const li = element("li");
        li.append(link(o));
        const text = (e.s || "").split(SEP).map(s => s.trim()).filter(Boolean).join(" / ");
        if (text) li.append(element("p", text));
        li.append(element("div", `weight ${e.w}` + (e.k ? ` \u00b7 ${e.k.join(", ")}` : ""), { class: "meta" }));
        ul.append(li);
      }
    };
    add([0, 100]);
    box.append(ul);
    if (list.length > 100) {
      more.textContent = `Show ${number(list.length - 100)} more`;
      more.addEventListener("click", () => { add([100, list.length]); more.remove(); });
      box.append(more);
    }
  }
  if (n.c) {
    box.append(element("h3", "Sources"));
    const ul = element("ul", undefined, { class: "sources" });
    for (const c of n.c) ul.append(element("li", c));
    if (n.m) ul.append(element("li", `${number(n.m)} more`));
    box.append(ul);
  }
  box.scrollTop = 0;
}

function legend() {
  const nav = $("legend");
  nav.textContent = "";
  const count = types.map(() => 0);
  for (const n of nodes) count[n.t]++;
  types.slice(0, 40).forEach((name, t) => {
    const b = element("button", name + " ", { "aria-pressed": String(!hiddenTypes.has(t)), title: "Show or hide this type" });
    b.prepend(dot(t));
    b.append(element("small", number(count[t])));
    b.addEventListener("click", () => {
      hiddenTypes.has(t) ? hiddenTypes.delete(t) : hiddenTypes.add(t);
      b.setAttribute("aria-pressed", String(!hiddenTypes.has(t)));
      choose();
    });
    nav.append(b);
  });
}

// Search: names that begin with the text first, then those that hold it.
const folded = nodes.map(n => n.n.toLowerCase());
let found = [], choice = 0;
function search(text) {
  const q = text.trim().toLowerCase();
  found = [];
  if (q) {
    const inside = [];
    for (let i = 0; i < folded.length && found.length < 12; i++) {
      const at = folded[i].indexOf(q);
      if (at === 0) found.push(i);
      else if (at > 0 && inside.length < 12) inside.push(i);
    }
    found = found.concat(inside).slice(0, 12);
    found.sort((a, b) => (folded[b] === q) - (folded[a] === q));
  }
  choice = 0;
  hits(q !== "");
}

function hits(open) {
  const ul = $("hits");
  ul.textContent = "";
  ul.hidden = !open;
  $("search").setAttribute("aria-expanded", String(open));
  if (!open) return $("search").removeAttribute("aria-activedescendant");
  found.forEach((i, at) => {
    const li = element("li", nodes[i].n + " ", { role: "option", id: "hit" + at, "aria-selected": String(at === choice) });
    li.prepend(dot(nodes[i].t));
    li.append(element("small", types[nodes[i].t]));
    li.addEventListener("pointerdown", ev => { ev.preventDefault(); take(at); });
    ul.append(li);
  });
  if (found.length === 0) ul.append(element("li", "Nothing found"));
  else $("search").setAttribute("aria-activedescendant", "hit" + choice);
  const active = ul.children[choice];
  if (active) active.scrollIntoView({ block: "nearest" });
}

function take(at) {
  if (!(at in found)) return;
  hits(false);
  $("search").value = nodes[found[at]].n;
  hiddenTypes.delete(nodes[found[at]].t);
  legend();
  select(found[at], true);
}

$("search").addEventListener("input", ev => search(ev.target.value));
$("search").addEventListener("blur", () => hits(false));
$("search").addEventListener("keydown", ev => {
  if (ev.key === "ArrowDown" || ev.key === "ArrowUp") {
    if (found.length === 0) return;
    choice = (choice + (ev.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
    hits(true);
    ev.preventDefault();
  } else if (ev.key === "Enter") {
    take(choice);
  } else if (ev.key === "Escape") {
    ev.target.value = "";
    hits(false);
    canvas.focus();
  }
  ev.stopPropagation();
});

// The pointer: one moves the drawing or a node, two zoom.
function hit(x, y) {
  const size = scale();
  let best = -1, least = Infinity;
  for (const i of visible) {
    const n = nodes[i], d = Math.hypot(screenX(n.x) - x, screenY(n.y) - y) - Math.max(1.5, radius(n) * size);
    if (d < 5 && d < least) { least = d; best = i; }
  }
  return best;
}

const pointers = new Map();
let held = -1, moved = false, spread = 0;
canvas.addEventListener("pointerdown", ev => {
  canvas.setPointerCapture(ev.pointerId);
  pointers.set(ev.pointerId, [ev.offsetX, ev.offsetY]);
  moved = false;
  held = pointers.size === 1 ? hit(ev.offsetX, ev.offsetY) : -1;
  spread = 0;
  canvas.classList.add("busy");
});
canvas.addEventListener("pointermove", ev => {
  const was = pointers.get(ev.pointerId);
  if (!was) {
    const h = hit(ev.offsetX, ev.offsetY);
    if (h !== hovered) {
      hovered = h;
      neighbours(h >= 0 ? h : selected);
      canvas.classList.toggle("over", h >= 0);
      canvas.title = h >= 0 ? nodes[h].n : "";
      paint();
    }
    return;
  }
  const now = [ev.offsetX, ev.offsetY], dx = now[0] - was[0], dy = now[1] - was[1];
  if (!moved && Math.hypot(dx, dy) < 3 && pointers.size === 1) return;
  moved = true;
  pointers.set(ev.pointerId, now);
  if (pointers.size === 2) {
    const [a, b] = [...pointers.values()], d = Math.hypot(a[0] - b[0], a[1] - b[1]);
    if (spread > 0) zoom(d / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
    spread = d;
    return;
  }
  if (held >= 0) {
    nodes[held].x += dx / camera.k;
    nodes[held].y += dy / camera.k;
  } else {
    camera.x -= dx / camera.k;
    camera.y -= dy / camera.k;
  }
  paint();
});
const release = ev => {
  if (!pointers.delete(ev.pointerId)) return;
  canvas.classList.remove("busy");
  if (!moved && ev.type === "pointerup") select(held, false);
  held = -1;
  spread = 0;
};
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("pointerleave", () => {
  if (hovered < 0) return;
  hovered = -1;
  neighbours(selected);
  paint();
});
canvas.addEventListener("wheel", ev => {
  ev.preventDefault();
  zoom(Math.exp(-ev.deltaY * (ev.deltaMode ? 0.05 : 0.0016)), ev.offsetX, ev.offsetY);
}, { passive: false });
canvas.addEventListener("dblclick", ev => zoom(1.8, ev.offsetX, ev.offsetY));

document.addEventListener("keydown", ev => {
  if (ev.ctrlKey || ev.metaKey || ev.altKey || ev.target === $("slider")) return;
  const step = 60 / camera.k;
  const keys = {
    "/": () => $("search").focus(), "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), "0": fit,
    Escape: () => select(-1),
    ArrowLeft: () => { camera.x -= step; paint(); }, ArrowRight: () => { camera.x += step; paint(); },
    ArrowUp: () => { camera.y -= step; paint(); }, ArrowDown: () => { camera.y += step; paint(); },
  };
  if (!(ev.key in keys) || ev.key.startsWith("Arrow") && ev.target !== canvas && ev.target !== document.body) return;
  ev.preventDefault();
  keys[ev.key]();
});

// The slider moves on a scale of orders of magnitude.
const least = Math.min(nodes.length, 50);
const toAmount = s => Math.round(least * Math.pow(nodes.length / Math.max(1, least), s / 100));
$("slider").addEventListener("input", ev => { amount = toAmount(+ev.target.value); choose(); });
$("amount").hidden = nodes.length <= 50;
$("slider").value = nodes.length <= 50 ? 100 : 100 * Math.log(amount / least) / Math.log(nodes.length / least);

$("in").addEventListener("click", () => zoom(1.4));
$("out").addEventListener("click", () => zoom(1 / 1.4));
$("fit").addEventListener("click", fit);
function theme() {
  document.documentElement.classList.toggle("dark", dark);
  legend();
  details();
  paint();
}
$("theme").addEventListener("click", () => { dark = !dark; theme(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ev => { dark = ev.matches; theme(); });

function follow() {
  const name = decodeURIComponentSafe(location.hash);
  const i = name ? nodes.findIndex(n => n.n === name) : -1;
  if (i !== selected) select(i, true);
}
window.addEventListener("hashchange", follow);
window.addEventListener("resize", resize);

$("title").textContent = data.graph.title;
resize();
theme();
choose();
fit();
follow();
})();
