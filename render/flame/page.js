"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const ROW = 18, FONT = '12px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace';
const DIFF = data.diff, REST = "(smaller frames)";

// ---- trees: columns of numbers, in depth-first order ----

// finish derives what follows from depths: parents and where subtrees end.
function finish(t) {
  const n = t.depth.length;
  t.n = n; t.parent = new Int32Array(n); t.next = new Int32Array(n); t.deepest = 0;
  const open = [];
  for (let i = 0; i < n; i++) {
    const d = t.depth[i];
    for (let k = open.length - 1; k >= d; k--) t.next[open[k]] = i;
    open.length = d; open.push(i);
    t.parent[i] = d ? open[d - 1] : -1;
    if (d > t.deepest) t.deepest = d;
  }
  for (const i of open) t.next[i] = n;
  t.widths = {};
  return t;
}

function load(raw) {
  raw.names = data.names; raw.groups = data.name_groups; raw.file = data.file; raw.files = data.files;
  const f = raw.frames, n = f.name.length, zero = new Float64Array(n);
  const t = {src: raw, name: f.name, depth: f.depth, total: Float64Array.from(f.total), self: Float64Array.from(f.self),
    base: f.base ? Float64Array.from(f.base) : zero, bself: f.base_self ? Float64Array.from(f.base_self) : zero,
    p: f.p ? Float64Array.from(f.p, x => x < 0 ? NaN : Math.pow(10, -x / 10)) : null};
  return finish(t);
}

// Maker joins stacks into a tree: frames are {name, kids, values}.
const NOBODY = new Map();
function node(name) { return {name, kids: null, v: [0, 0, 0, 0]}; }
function kid(of, name) {
  if (!of.kids) of.kids = new Map();
  let k = of.kids.get(name);
  if (!k) of.kids.set(name, k = node(name));
  return k;
}
function made(raw, root) {
  const t = {src: raw, name: [], depth: [], total: [], self: [], base: [], bself: []};
  const todo = [[root, 0]];
  while (todo.length) {
    const [at, d] = todo.pop();
    t.name.push(at.name); t.depth.push(d);
    t.total.push(at.v[0]); t.self.push(at.v[1]); t.base.push(at.v[2]); t.bself.push(at.v[3]);
    const kids = [...(at.kids || NOBODY).values()].sort((a, b) => nameOf(raw, a.name) < nameOf(raw, b.name) ? 1 : -1);
    for (const k of kids) todo.push([k, d + 1]);
  }
  finish(t);
  t.p = DIFF ? judge(t) : null;
  return t;
}
function nameOf(raw, name) { return name < 0 ? REST : raw.names[name]; }

// rests are what of each frame lies in frames that were left out.
function rests(t) {
  const r = Float64Array.from(t.total, (v, i) => v - t.self[i]), b = Float64Array.from(t.base, (v, i) => v - t.bself[i]);
  for (let i = 1; i < t.n; i++) { r[t.parent[i]] -= t.total[i]; b[t.parent[i]] -= t.base[i]; }
  return [r, b];
}

// ends calls back for each place where stacks end: the frame, and what ends there on each side.
function ends(t, each) {
  const [r, b] = rests(t);
  for (let i = 0; i < t.n; i++) {
    if (t.self[i] > 0 || t.bself[i] > 0) each(i, t.self[i], t.bself[i], false);
    if (r[i] > 0 || b[i] > 0) each(i, Math.max(0, r[i]), Math.max(0, b[i]), true);
  }
}
function grow(at, v, b) { at.v[0] += v; at.v[2] += b; return at; }
function stop(at, v, b) { at.v[1] += v; at.v[3] += b; }

function inverted(t) {
  const root = node(t.name[0]);
  ends(t, (i, v, b, small) => {
    let at = grow(root, v, b);
    if (small) at = grow(kid(at, -1), v, b);
    for (let f = i; f > 0; f = t.parent[f]) at = grow(kid(at, t.name[f]), v, b);
    stop(at, v, b);
  });
  return made(t.src, root);
}

// merged joins the trees of all nodes, or keeps one.
function perNode(t, want) {
  const root = node(t.name[0]), at = [root];
  let top = -1;
  for (let i = 1; i < t.n; i++) {
    const d = t.depth[i];
    if (d === 1) top = i;
    if (want !== null && t.name[top] !== want) continue;
    at.length = d;
    const k = d === 1 ? root : kid(at[d - 1], t.name[i]);
    at[d] = k;
    k.v[0] += t.total[i]; k.v[1] += t.self[i]; k.v[2] += t.base[i]; k.v[3] += t.bself[i];
  }
  return made(t.src, root);
}

// sandwich is what calls a function, inverted, and what it calls. Of a stack in which it is
// more than once the place nearest to the root counts.
function sandwich(t, name) {
  const up = node(name), down = node(name);
  for (let i = 1; i < t.n;) {
    if (t.name[i] !== name) { i++; continue; }
    let at = grow(up, t.total[i], t.base[i]);
    for (let f = t.parent[i]; f > 0; f = t.parent[f]) at = grow(kid(at, t.name[f]), t.total[i], t.base[i]);
    stop(at, t.total[i], t.base[i]);
    const open = [down], from = t.depth[i];
    for (let j = i; j < t.next[i]; j++) {
      const d = t.depth[j] - from;
      open.length = Math.max(d, 1);
      const k = d === 0 ? down : kid(open[d - 1], t.name[j]);
      open[d] = k;
      k.v[0] += t.total[j]; k.v[1] += t.self[j]; k.v[2] += t.base[j]; k.v[3] += t.bself[j];
    }
    i = t.next[i];
  }
  return [made(t.src, up), made(t.src, down)];
}

// judge estimates p values of a tree that was made here: of equal rates or shares, in the normal
// approximation with Yates' correction, by Holm's method. Those of trees that came with the page are exact.
function judge(t) {
  const n1 = t.src.base_samples, n2 = t.src.samples, p = new Float64Array(t.n).fill(NaN), odds = t.src.before / (t.src.before + t.src.after);
  const all = main(), a = all.base[0], b = all.total[0];
  if (!(n1 > 0 && n2 > 0 && a > 0 && b > 0)) return p;
  const n = n1 + n2, order = [], ask = new Int32Array(t.n);
  for (let i = 0; i < t.n; i++) {
    const up = t.parent[i];
    ask[i] = i;
    if (up >= 0 && t.total[up] === t.total[i] && t.base[up] === t.base[i]) { ask[i] = ask[up]; continue; }
    const x = t.base[i] / a * n1, y = t.total[i] / b * n2, k = x + y;
    if (odds) {
      p[i] = k > 0 ? erfc(Math.max(0, Math.abs(x - k * odds) - 0.5) / Math.sqrt(2 * k * odds * (1 - odds))) : 1;
      order.push(i); continue;
    }
    if (i === 0) continue;
    const gap = Math.max(0, Math.abs(x * (n2 - y) - y * (n1 - x)) - n / 2);
    p[i] = k <= 0 || k >= n ? 1 : erfc(Math.sqrt(gap * gap * n / (n1 * n2 * k * (n - k)) / 2));
    order.push(i);
  }
  order.sort((i, j) => p[i] - p[j]);
  let worst = 0;
  order.forEach((i, rank) => { p[i] = worst = Math.max(worst, Math.min(1, p[i] * (order.length - rank))); });
  return p.map((v, i) => p[ask[i]]);
}
// erfc to 1.2e-7 (Numerical Recipes, 6.2: a Chebyshev fit).
function erfc(x) {
  const t = 1 / (1 + x / 2), c = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277];
  let s = 0;
  for (let i = 9; i >= 0; i--) s = s * t + c[i];
  return t * Math.exp(-x * x + s);
}

// widthsOf are the widths of all frames: of the new side, or wide enough for both.
function widthsOf(t) {
  const mode = DIFF && state.vanished ? "both" : "new";
  if (t.widths[mode]) return t.widths[mode];
  if (mode === "new") return t.widths[mode] = t.total;
  const r = Float64Array.from(t.total), b = Float64Array.from(t.base), w = new Float64Array(t.n);
  for (let i = 1; i < t.n; i++) { r[t.parent[i]] -= t.total[i]; b[t.parent[i]] -= t.base[i]; }
  for (let i = t.n - 1; i >= 0; i--) {
    w[i] += Math.max(r[i], b[i], 0);
    if (i) w[t.parent[i]] += w[i];
  }
  return t.widths[mode] = w;
}

// ---- state ----

const trees = data.trees.map(load), cache = new Map();
const state = {type: 0, node: "all", view: "down", orient: "icicle", scale: "absolute",
  vanished: true, focus: -1, zoom: 0, zoomName: "", chosen: 0, chosenPane: 0, search: "", re: null, table: false, hover: null};

function main() {
  const t = trees[state.type];
  if (!t.src.nodes || state.node === "each") return t;
  return cached("node " + state.node, () => perNode(t, state.node === "all" ? null : +state.node));
}
function cached(key, make) {
  key = state.type + " " + key;
  if (!cache.has(key)) {
    if (cache.size > 12) cache.clear();
    cache.set(key, null); // judge asks main while it is made
    cache.set(key, make());
  }
  return cache.get(key) || trees[state.type];
}
// panes are what is drawn, from the top: trees, and which way they grow.
function panes() {
  const t = main();
  if (state.view === "inverted") return [{t: t.src.inverted ? t : cached("inverted " + state.node, () => inverted(t)), up: state.orient === "flame"}];
  if (state.view === "sandwich" && state.focus >= 0) {
    const [up, down] = cached("sandwich " + state.node + " " + state.focus, () => sandwich(t, state.focus));
    return [{t: up, up: true, skip: true}, {t: down, up: false}];
  }
  return [{t, up: state.orient === "flame"}];
}

// ---- numbers ----

const KINDS = [
  [/^(nanoseconds?|ns)$/, 1], [/^(microseconds?|us)$/, 1e3], [/^(milliseconds?|ms)$/, 1e6], [/^(seconds?|s)$/, 1e9]];
function scaleTo(v, units) {
  const a = Math.abs(v);
  let best = units[0];
  for (const u of units) if (a >= u[0]) best = u;
  return (v / best[0]).toFixed(2).replace(".00", "") + " " + best[1];
}
function text(v, raw) {
  if (v === 0) return "0";
  v *= raw.scale;
  const unit = raw.unit;
  for (const [re, ns] of KINDS) if (re.test(unit)) return scaleTo(v * ns, [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"], [3600e9, "h"]]);
  if (/^(bytes?|b)$/i.test(unit)) return scaleTo(v, [[1, "B"], [1024, "KiB"], [1048576, "MiB"], [1073741824, "GiB"], [1099511627776, "TiB"]]);
  return (Number.isInteger(v) ? v.toLocaleString("en-US") : String(+v.toPrecision(6))) + (/^(count|samples?|)$/.test(unit) ? "" : " " + unit);
}
function percent(x) {
  if (!isFinite(x)) return "?";
  const a = Math.abs(100 * x), sign = x < 0 ? "-" : "";
  if (a > 1e-9 && a < 0.1) return "<0.1%";
  return sign + +(a < 100 - 1e-9 ? Math.min(a, 99.9) : a).toFixed(1) + "%";
}
const signed = (v, s) => v > 0 ? "+" + s : s;
const div = (a, b) => b ? a / b : 0;

// ---- colours ----

const dark = matchMedia("(prefers-color-scheme: dark)");
let ink = null;
function palette() {
  const css = getComputedStyle(document.documentElement), look = name => css.getPropertyValue(name).trim();
  ink = {...data.palette[dark.matches ? "dark" : "light"], bg: look("--bg"), fg: look("--fg"), mark: look("--mark"), dim: look("--dim"), accent: look("--accent")};
}
function rgb(hex) { return [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)); }
function ramp(stops, x) {
  const at = Math.min(1, Math.max(0, x)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
  const a = rgb(stops[i]), b = rgb(stops[i + 1]);
  return "#" + a.map((v, k) => Math.round(v + (b[k] - v) * (at - i)).toString(16).padStart(2, "0")).join("");
}
const inks = new Map();
function inkOn(fill) {
  let c = inks.get(fill);
  if (!c) {
    const l = rgb(fill).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4));
    inks.set(fill, c = 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2] > 0.179 ? "#000000" : "#ffffff");
  }
  return c;
}
// change is the change of a frame: of all, in parts of the base's total, or of itself, in doublings.
function change(t, i) {
  const all = main();
  if (state.scale === "absolute") return div(t.total[i] - t.base[i], all.base[0] || all.total[0]);
  if (!t.base[i] || !t.total[i]) return t.total[i] ? Infinity : t.base[i] ? -Infinity : 0;
  return Math.log2(t.total[i] / t.base[i]);
}
// most is the change that has the strongest colour.
function most() {
  if (state.scale === "relative") return 2;
  const t = main();
  return t.most || (t.most = strongest(t));
}
function strongest(t) {
  let top = 0, any = 0;
  for (let i = 1; i < t.n; i++) {
    const d = Math.abs(div(t.total[i] - t.base[i], t.base[0] || t.total[0]));
    if (d > any) any = d;
    if (d > top && !noise(t, i)) top = d;
  }
  return top || any || 1;
}
const noise = (t, i) => t.p !== null && t.p[i] >= data.level;
function diverging(x) {
  const at = state.scale === "absolute" ? Math.sqrt(Math.abs(x)) : Math.abs(x);
  return ramp(x > 0 ? ink.more : ink.less, at);
}
function fillOf(t, i) {
  if (t.name[i] < 0) return ink.rest;
  if (DIFF) {
    if (noise(t, i)) return ink.noise;
    const d = change(t, i);
    return d === 0 ? ink.more[0] : diverging(Math.max(-1, Math.min(1, d / most())));
  }
  if (t.depth[i] === 0 && state.view !== "sandwich") return ink.rest;
  return ink.groups[t.src.groups[t.name[i]]];
}
function signOf(t, i) {
  if (!DIFF || t.name[i] < 0) return "";
  return t.total[i] > 0 && t.base[i] === 0 ? "+ " : t.total[i] === 0 && t.base[i] > 0 ? "\u2212 " : "";
}

// ---- drawing ----

const canvas = $("graph"), ctx = canvas.getContext("2d");
let spans = [], shown = [], height = 0, pending = false;

// lay puts the frames of a pane into rows of spans [frame, from, to].
function lay(t, zoom, width) {
  const w = widthsOf(t), rows = [];
  const put = (d, s) => (rows[d] || (rows[d] = [])).push(s);
  for (let f = zoom; f >= 0; f = t.parent[f]) put(t.depth[f], [f, 0, width]);
  const scale = div(width, w[zoom]), first = t.depth[zoom], at = [0];
  for (let i = zoom + 1; i < t.next[zoom];) {
    const level = t.depth[i] - first, from = at[level - 1], to = Math.min(width, from + w[i] * scale);
    at[level - 1] = to;
    if (to - from < 0.4) { i = t.next[i]; continue; }
    put(t.depth[i], [i, from, to]);
    at.length = level; at.push(from);
    i++;
  }
  return rows;
}

// gaps are where a row has frames that are not drawn, for being small; what is below self time stays empty.
function gaps(t, w, callers, row) {
  const out = [];
  let k = 0;
  for (const [f, from, to] of callers) {
    const self = DIFF && state.vanished ? Math.max(t.self[f], t.bself[f]) : t.self[f], end = from + (to - from) * (1 - div(Math.min(self, w[f]), w[f]));
    let at = from;
    for (; k < row.length && t.parent[row[k][0]] === f; k++) {
      if (row[k][1] - at >= 1) out.push([at, row[k][1]]);
      at = row[k][2];
    }
    if (end - at >= 1) out.push([at, end]);
  }
  return out;
}

function relayout(again) {
  const width = $("scroll").clientWidth;
  shown = panes(); spans = [];
  $("tip").hidden = true;
  let y = 0;
  shown.forEach((pane, k) => {
    const rows = lay(pane.t, shown.length > 1 ? 0 : state.zoom, width);
    if (pane.skip) rows.shift();
    pane.from = y;
    const w = widthsOf(pane.t), below = gaps(pane.t, w, rows[rows.length - 1] || [], []);
    if (below.length) rows.push([]);
    const n = rows.length;
    rows.forEach((row, d) => spans.push({pane: k, y: y + (pane.up ? n - 1 - d : d) * ROW, row, rest: d ? gaps(pane.t, w, rows[d - 1], row) : []}));
    y += n * ROW;
  });
  spans.sort((a, b) => a.y - b.y);
  height = y;
  $("space").style.height = height + "px";
  if ($("scroll").clientWidth !== width && !again) return relayout(true); // a scrollbar came or went
  draw();
}

function draw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; paint(); });
}

function paint() {
  const box = $("scroll"), width = box.clientWidth, view = Math.min(box.clientHeight, Math.max(height, ROW)), ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(view * ratio)) {
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(view * ratio);
    canvas.style.width = width + "px"; canvas.style.height = view + "px";
  }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = ink.bg; ctx.fillRect(0, 0, width, view);
  ctx.font = FONT; ctx.textBaseline = "middle";
  const top = Math.min(box.scrollTop, Math.max(0, height - view));
  for (const s of spans) {
    const y = s.y - top;
    if (y + ROW < 0 || y > view) continue;
    ctx.fillStyle = ink.rest;
    for (const [from, to] of s.rest) ctx.fillRect(from, y, to - from - 1 / ratio, ROW - 1);
    for (const span of s.row) frame(shown[s.pane].t, s.pane, span, y, ratio);
  }
}

function frame(t, pane, [i, from, to], y, ratio) {
  const snap = v => Math.round(v * ratio) / ratio;
  const x = snap(from), w = Math.max(1 / ratio, snap(to) - x - (to - from > 2 ? 1 / ratio : 0)), h = ROW - 1;
  const hit = state.re && i > 0 && matches(t, i), chosen = i === state.chosen && pane === state.chosenPane && document.activeElement === canvas;
  const hovered = state.hover && state.hover.i === i && state.hover.pane === pane;
  let fill = hit ? ink.mark : fillOf(t, i);
  ctx.globalAlpha = state.re && !hit ? 0.55 : state.zoom && i !== state.zoom && t.next[i] >= t.next[state.zoom] && i < state.zoom && shown.length === 1 ? 0.6 : 1;
  ctx.fillStyle = fill; ctx.fillRect(x, y, w, h);
  ctx.globalAlpha = 1;
  if (DIFF && w > 3 && !hit) { ctx.strokeStyle = ink.edge; ctx.lineWidth = 1 / ratio; ctx.strokeRect(x + .5 / ratio, y + .5 / ratio, w - 1 / ratio, h - 1 / ratio); }
  if (pane === 1 && i === 0) { ctx.strokeStyle = ink.fg; ctx.lineWidth = 1; ctx.strokeRect(x + .5, y + .5, Math.max(1, w - 1), h - 1); } // what a sandwich is of
  if (chosen || hovered) { ctx.strokeStyle = ink.fg; ctx.lineWidth = chosen ? 2 : 1; ctx.strokeRect(x + 1, y + 1, Math.max(1, w - 2), h - 2); }
  if (w < 22) return;
  const label = fit(signOf(t, i) + nameOf(t.src, t.name[i]), w - 8);
  if (!label) return;
  ctx.fillStyle = state.re && !hit || ctx.globalAlpha < 1 ? ink.fg : inkOn(hit ? ink.mark : fill);
  ctx.fillText(label, x + 4, y + h / 2 + 0.5);
}

let advance = 0;
// fit shortens a name: without its import path, then at its end.
function fit(name, width) {
  if (!advance) advance = ctx.measureText("M").width;
  const room = Math.floor(width / advance);
  if (room < 2) return "";
  if (name.length <= room) return name;
  name = short(name);
  return name.length <= room ? name : room < 3 ? "" : name.slice(0, room - 1) + "\u2026";
}
function short(name) {
  const sign = /^[+\u2212] /.test(name) ? name.slice(0, 2) : "", rest = name.slice(sign.length);
  const end = rest.search(/[([<]/);
  let cut = rest.lastIndexOf("/", end < 0 ? rest.length : end);
  if (cut > 0 && /^v[0-9]/.test(rest.slice(cut + 1))) cut = rest.lastIndexOf("/", cut - 1);
  return sign + rest.slice(cut + 1);
}

// ---- search ----

let marks = new WeakMap();
function matches(t, i) {
  let m = marks.get(t);
  if (!m || m.re !== state.re) {
    const names = t.src.marks && t.src.marks.re === state.re ? t.src.marks.hit : t.src.names.map(n => state.re.test(n));
    t.src.marks = {re: state.re, hit: names};
    marks.set(t, m = {re: state.re, hit: names});
  }
  return t.name[i] >= 0 && m.hit[t.name[i]];
}
// find counts frames that match, and what stacks with one are worth, each stack once.
function find(t) {
  let count = 0, value = 0, base = 0, inside = 0;
  for (let i = 1; i < t.n; i++) {
    if (!matches(t, i)) continue;
    count++;
    if (i >= inside) { value += t.total[i]; base += t.base[i]; inside = t.next[i]; }
  }
  return {count, value, base};
}
function search(words) {
  state.search = words;
  state.re = null;
  $("search").classList.remove("bad");
  $("found").textContent = "";
  if (words) {
    try { state.re = new RegExp(words, /[A-Z]/.test(words) ? "" : "i"); } catch (e) {
      $("search").classList.add("bad");
      $("found").textContent = "not a regular expression";
    }
  }
  if (state.re) {
    const t = main(), f = find(t);
    $("found").textContent = `${f.count.toLocaleString("en-US")} ${f.count === 1 ? "frame" : "frames"}, ${percent(div(f.value, t.total[0]))}` +
      (DIFF ? `, before ${percent(div(f.base, t.base[0]))}` : "");
  }
  draw();
}
function step(back) {
  if (!state.re) return;
  const t = shown[shown.length - 1].t;
  for (let k = 1; k <= t.n; k++) {
    const i = (state.chosen + (back ? t.n - k : k)) % t.n;
    if (i && matches(t, i)) { choose(i, shown.length - 1, true); return; }
  }
}

// ---- choosing and zooming ----

function choose(i, pane, reveal) {
  state.chosen = i; state.chosenPane = pane;
  const t = shown[pane].t;
  if (reveal && shown.length === 1) {
    if (!spanOf(i) && state.zoom) zoom(0, true);
    const s = spanOf(i);
    if (!s || s.to - s.from < 4) zoom(t.parent[i] > 0 ? t.parent[i] : 0, true);
  }
  $("detail").textContent = lines(t, i).join("  \u00b7  ");
  const at = spans.find(s => s.pane === pane && s.row.some(r => r[0] === i)), box = $("scroll");
  if (at && reveal) {
    if (at.y < box.scrollTop) box.scrollTop = at.y;
    else if (at.y + ROW > box.scrollTop + box.clientHeight) box.scrollTop = at.y + ROW - box.clientHeight;
  }
  draw();
}
function spanOf(i, pane) {
  for (const s of spans) for (const r of s.row) if (r[0] === i && (pane === undefined || s.pane === pane)) return {y: s.y, from: r[1], to: r[2]};
  return null;
}
function zoom(i, keep) {
  state.zoom = i;
  if (!keep) state.chosen = i;
  relayout(); crumbs();
  if (state.orient === "flame" && shown.length === 1) $("scroll").scrollTop = height;
}
function crumbs() {
  const nav = $("crumbs"), t = shown[0].t, path = [];
  nav.textContent = "";
  const add = (label, act, title) => {
    if (nav.childNodes.length) { const s = document.createElement("span"); s.textContent = "\u203a"; nav.append(s); }
    const b = document.createElement("button");
    b.type = "button"; b.textContent = label; b.title = title || label; b.onclick = act;
    nav.append(b);
  };
  if (shown.length > 1) {
    add("all", () => setView("down"));
    add("sandwich of " + short(nameOf(t.src, state.focus)), () => {}, nameOf(t.src, state.focus));
    return;
  }
  for (let f = state.zoom; f >= 0; f = t.parent[f]) path.unshift(f);
  const all = path.length;
  path.forEach((f, k) => {
    if (k > 0 && k < all - 5) { if (k === 1) { const s = document.createElement("span"); s.textContent = `\u203a \u2026 ${all - 6} more`; nav.append(s); } return; }
    add(k ? short(nameOf(t.src, t.name[f])) : "all", () => zoom(f), nameOf(t.src, t.name[f]));
  });
}

// ---- what is told of a frame ----

function lines(t, i) {
  const raw = t.src, all = main(), out = [];
  out.push(i === 0 && shown.length === 1 ? "all" : nameOf(raw, t.name[i]));
  const side = (label, total, self, whole) => `${label}${text(total, raw)} (${percent(div(total, whole))}), self ${text(self, raw)} (${percent(div(self, whole))})`;
  if (!DIFF) out.push(side("", t.total[i], t.self[i], all.total[0]));
  else {
    out.push(side("before ", t.base[i], t.bself[i], all.base[0]), side("after ", t.total[i], t.self[i], all.total[0]));
    const d = t.total[i] - t.base[i];
    let s = "change " + signed(d, text(d, raw)) + ", " + signed(d, percent(div(d, all.base[0] || all.total[0]))) + " of all";
    if (t.base[i] && t.total[i]) s += ", " + signed(d, percent(d / t.base[i])) + " of itself";
    else if (t.total[i] || t.base[i]) s += t.total[i] ? ", new" : ", vanished";
    out.push(s);
    const p = t.p ? t.p[i] : NaN;
    if (i > 0 || raw.before) out.push(isNaN(p) ? "significance unknown: the number of samples is not known" : (p >= data.level ? "within noise" : "significant") + ", p " + (p < 1e-4 ? "< 0.0001" : "= " + +p.toPrecision(2)));
  }
  if (t.name[i] >= 0 && i > 0) {
    const file = raw.files[raw.file[t.name[i]]], group = data.groups[raw.groups[t.name[i]]];
    out.push(group + (file ? ", " + file : ""));
  }
  return out;
}
function tip(e, hit) {
  const box = $("tip");
  if (!hit) { box.hidden = true; return; }
  box.textContent = "";
  lines(shown[hit.pane].t, hit.i).forEach((line, k) => {
    const el = document.createElement(k ? "div" : "b");
    el.textContent = line; box.append(el);
  });
  box.hidden = false;
  const r = box.getBoundingClientRect();
  box.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - r.width - 6)) + "px";
  box.style.top = (e.clientY + 18 + r.height > innerHeight ? Math.max(4, e.clientY - r.height - 10) : e.clientY + 18) + "px";
}
function at(e) {
  const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top + Math.min($("scroll").scrollTop, Math.max(0, height - r.height));
  let near = null;
  for (const s of spans) {
    if (y < s.y || y >= s.y + ROW) continue;
    for (const [i, from, to] of s.row) {
      if (x >= from && x < to) return {i, pane: s.pane};
      if (x >= from && x < from + 1) near = {i, pane: s.pane}; // drawn a pixel wide, though it is less
    }
  }
  return near;
}

// ---- legend and table ----

function legend() {
  const box = $("legend");
  box.textContent = "";
  const chip = (fill, label, glyph) => {
    const c = document.createElement("span"), i = document.createElement("i");
    c.className = "chip"; i.style.background = fill; i.textContent = glyph || "";
    if (glyph) i.style.color = inkOn(fill);
    c.append(i, label); box.append(c);
  };
  if (DIFF) {
    const m = most(), c = document.createElement("span"), r = document.createElement("span");
    c.className = "chip"; r.className = "ramp";
    for (const x of [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1]) {
      const i = document.createElement("i"), back = state.scale === "absolute" ? x * Math.abs(x) : x;
      i.style.background = x === 0 ? ink.more[0] : diverging(back);
      i.title = state.scale === "absolute" ? signed(back, percent(back * m)) + " of all" : factor(back * m);
      r.append(i);
    }
    c.append(state.scale === "absolute" ? `less, \u2212${percent(m)} of all` : "a quarter or less", r, state.scale === "absolute" ? `more, +${percent(m)} of all` : "four times or more");
    box.append(c);
    chip(ink.noise, `noise: may be chance (p \u2265 ${data.level})`);
    chip(diverging(1), "new", "+");
    if (state.vanished) chip(diverging(-1), "vanished", "\u2212");
    chip(ink.rest, REST);
    return;
  }
  const t = main(), sums = new Map(), exact = t === trees[state.type] || state.node === "all";
  let all = 0;
  for (let i = 1; i < t.n; i++) {
    if (t.name[i] < 0) continue;
    const g = t.src.groups[t.name[i]], v = exact ? 0 : t.self[i];
    sums.set(g, (sums.get(g) || 0) + v); all += v;
  }
  if (exact) t.src.leaves.forEach((v, g) => { if (v > 0) { sums.set(g, v); all += v; } });
  for (const [g, v] of [...sums].sort((a, b) => b[1] - a[1])) chip(ink.groups[g], `${data.groups[g]} ${percent(div(v, t.total[0]))}`);
  const rest = t.total[0] - all;
  chip(ink.rest, rest > t.total[0] * 0.0005 ? `${REST} ${percent(div(rest, t.total[0]))}` : REST);
}
const factor = x => x === 0 ? "unchanged" : "x " + Math.pow(2, x).toPrecision(2);

// functions adds up what each is worth, once a stack.
function functions(t) {
  const open = new Map(), rows = new Map(), path = [];
  for (let i = 1; i < t.n; i++) {
    while (path.length && t.depth[path[path.length - 1]] >= t.depth[i]) { const j = path.pop(); open.set(t.name[j], open.get(t.name[j]) - 1); }
    const name = t.name[i], n = open.get(name) || 0;
    let r = rows.get(name);
    if (!r) rows.set(name, r = {name, self: 0, total: 0, bself: 0, base: 0});
    r.self += t.self[i]; r.bself += t.bself[i];
    if (!n) { r.total += t.total[i]; r.base += t.base[i]; }
    open.set(name, n + 1); path.push(i);
  }
  return [...rows.values()];
}
let order = DIFF ? "change" : "self";
function table() {
  $("table").hidden = !state.table;
  $("table-toggle").setAttribute("aria-expanded", String(state.table));
  if (!state.table) return;
  const t = main(), head = $("table").querySelector("thead"), body = $("table").querySelector("tbody");
  const columns = DIFF ? [["function"], ["change", r => r.total - r.base], ["total", r => r.total], ["before", r => r.base], ["self", r => r.self], ["self before", r => r.bself]]
    : [["function"], ["self", r => r.self], ["total", r => r.total]];
  head.textContent = ""; body.textContent = "";
  const tr = document.createElement("tr");
  for (const [label] of columns) {
    const th = document.createElement("th"), b = document.createElement("button");
    th.scope = "col"; b.type = "button"; b.textContent = label + (label === order ? " \u2193" : "");
    if (label === order) th.setAttribute("aria-sort", "descending");
    b.onclick = () => { order = label; table(); };
    th.append(b); tr.append(th);
  }
  head.append(tr);
  const by = (columns.find(c => c[0] === order) || columns[1])[1];
  const rows = functions(t).filter(r => r.name >= 0);
  rows.sort(by ? (a, b) => Math.abs(by(b)) - Math.abs(by(a)) : (a, b) => nameOf(t.src, a.name) < nameOf(t.src, b.name) ? -1 : 1);
  for (const r of rows.slice(0, 500)) {
    const tr = document.createElement("tr");
    columns.forEach(([label, get]) => {
      const td = document.createElement("td");
      if (!get) {
        const b = document.createElement("button");
        b.type = "button"; b.textContent = nameOf(t.src, r.name); b.title = "sandwich";
        b.onclick = () => focus(r.name);
        td.append(b);
      } else {
        const v = get(r), whole = label.includes("before") ? t.base[0] : label === "change" ? t.base[0] || t.total[0] : t.total[0];
        const part = document.createElement("span");
        part.className = "part"; part.textContent = percent(div(v, whole));
        td.append(label === "change" ? signed(v, text(v, t.src)) : text(v, t.src), " ", part);
      }
      tr.append(td);
    });
    body.append(tr);
  }
}

// ---- controls ----

function refresh() {
  state.zoom = 0; state.chosen = 0; state.chosenPane = 0; state.hover = null;
  $("type").value = state.type; $("node").value = state.node; $("view").value = state.view; $("orient").value = state.orient;
  $("scale").value = state.scale; $("vanished").checked = state.vanished;
  relayout(); crumbs(); legend(); table(); rule(); search(state.search);
  $("detail").textContent = shown.length > 1 ? lines(shown[1].t, 0).join("  \u00b7  ") : "\u00a0";
  const box = $("scroll");
  box.scrollTop = shown.length > 1 ? Math.max(0, shown[1].from - box.clientHeight / 2) : state.orient === "flame" ? height : 0;
}
function rule() {
  const t = trees[state.type].src, parts = [];
  if (!trees[state.type].total[0] && !trees[state.type].base[0]) parts.push("There are no samples: nothing to draw.");
  if (t.pruned) parts.push(`Left out: ${t.pruned.toLocaleString("en-US")} frames, with all below them, worth ${+(100 * t.min).toPrecision(2)}% of the total or less each (the largest ${trees[state.type].n.toLocaleString("en-US")} are kept).` +
    (state.view === "down" ? "" : ` This view uses the kept frames; the rest is in \u201c${REST}\u201d.`));
  else parts.push("All frames are shown.");
  if (DIFF) {
    parts.push(state.vanished ? "Widths: the larger of both sides, so vanished frames are visible." : "Widths: the new profile; vanished frames have none.");
    if (data.normalized) parts.push("The new profile is scaled to the base's total.");
  }
  $("rule").textContent = parts.join(" ");
}
function setView(v) {
  state.view = v;
  if (v === "sandwich" && state.focus < 0) {
    const t = main(), name = state.chosen > 0 ? shown[state.chosenPane].t.name[state.chosen] : -1;
    state.focus = name >= 0 ? name : functions(t).filter(r => r.name >= 0).sort((a, b) => b.self - a.self).map(r => r.name)[0] ?? -1;
  }
  refresh();
}
function focus(name) {
  if (name < 0) return;
  state.focus = name; state.view = "sandwich"; refresh();
}
function reset() {
  state.view = "down"; state.focus = -1; state.node = trees[state.type].src.nodes ? "each" : "all"; state.search = $("search").value = "";
  refresh();
}
function options(select, list) {
  for (const [value, label] of list) { const o = document.createElement("option"); o.value = value; o.textContent = label; select.append(o); }
}

$("type").onchange = e => { state.type = +e.target.value; state.focus = -1; if (state.view === "sandwich") state.view = "down"; nodes(); refresh(); };
$("node").onchange = e => { state.node = e.target.value; refresh(); };
$("view").onchange = e => setView(e.target.value);
$("orient").onchange = e => { state.orient = e.target.value; refresh(); };
$("scale").onchange = e => { state.scale = e.target.value; legend(); draw(); };
$("vanished").onchange = e => { state.vanished = e.target.checked; relayout(); legend(); rule(); };
$("search").oninput = e => search(e.target.value);
$("search").onkeydown = e => {
  if (e.key === "Enter") { step(e.shiftKey); e.preventDefault(); }
  if (e.key === "Escape") { e.target.value = ""; search(""); canvas.focus(); e.preventDefault(); e.stopPropagation(); }
};
$("next").onclick = () => step(false);
$("prev").onclick = () => step(true);
$("reset").onclick = reset;
$("table-toggle").onclick = () => { state.table = !state.table; table(); relayout(); };
let clicks = 0;
canvas.onclick = e => {
  const hit = at(e);
  if (!hit || e.detail > 1) return;
  choose(hit.i, hit.pane, false);
  if (shown.length === 1) zoom(hit.i); else focus(shown[hit.pane].t.name[hit.i]);
};
canvas.ondblclick = () => { const t = shown[state.chosenPane].t; if (state.chosen > 0) focus(t.name[state.chosen]); };
canvas.onmousemove = e => {
  const hit = at(e), old = state.hover;
  tip(e, hit);
  if ((hit && hit.i) !== (old && old.i) || (hit && hit.pane) !== (old && old.pane)) {
    state.hover = hit;
    if (hit) $("detail").textContent = lines(shown[hit.pane].t, hit.i).join("  \u00b7  ");
    draw();
  }
};
canvas.onmouseleave = () => { state.hover = null; $("tip").hidden = true; draw(); };
canvas.onfocus = canvas.onblur = draw;
$("scroll").onscroll = () => { $("tip").hidden = true; draw(); };
window.onresize = () => relayout();
dark.onchange = () => { palette(); legend(); draw(); };

// walk moves the choice: to the caller, to the largest callee, to a neighbour at the same depth.
function walk(key) {
  const pane = state.chosenPane, t = shown[pane].t, i = state.chosen, w = widthsOf(t);
  if (key === (shown[pane].up ? "ArrowDown" : "ArrowUp")) return t.parent[i];
  if (key === "ArrowUp" || key === "ArrowDown") {
    let best = -1;
    for (let c = i + 1; c < t.next[i]; c = t.next[c]) if (w[c] > 0 && (best < 0 || w[c] > w[best])) best = c;
    return best;
  }
  const row = [];
  for (const s of spans) if (s.pane === pane) for (const r of s.row) if (t.depth[r[0]] === t.depth[i]) row.push(r);
  row.sort((a, b) => a[1] - b[1]);
  const k = row.findIndex(r => r[0] === i) + (key === "ArrowLeft" ? -1 : 1);
  return row[k] ? row[k][0] : -1;
}
const keys = {
  "/": () => $("search").focus(), n: () => step(false), N: () => step(true),
  i: () => setView(state.view === "inverted" ? "down" : "inverted"),
  c: () => { if (state.view === "sandwich") return setView("down"); if (state.chosen > 0) focus(shown[0].t.name[state.chosen]); else setView("sandwich"); },
  F: () => { state.orient = state.orient === "flame" ? "icicle" : "flame"; refresh(); },
  a: () => { if (DIFF) { state.vanished = !state.vanished; $("vanished").checked = state.vanished; relayout(); legend(); rule(); } },
  R: () => { if (DIFF) { state.scale = state.scale === "absolute" ? "relative" : "absolute"; $("scale").value = state.scale; legend(); draw(); } },
  v: () => $("table-toggle").click(), u: reset,
  Escape: () => { if (state.search) { $("search").value = ""; search(""); } else if (state.zoom) zoom(0); else if (state.view !== "down") setView("down"); },
};
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target === $("search") || e.target.tagName === "SELECT") return;
  if (e.target === canvas) {
    if (e.key.startsWith("Arrow")) { const to = walk(e.key); if (to >= 0) choose(to, state.chosenPane, true); e.preventDefault(); return; }
    if (e.key === "Enter") { if (shown.length === 1) zoom(state.chosen); else focus(shown[state.chosenPane].t.name[state.chosen]); e.preventDefault(); return; }
    if (e.key === "Backspace") { if (state.zoom > 0) zoom(shown[0].t.parent[state.zoom]); e.preventDefault(); return; }
  }
  if (/^(BUTTON|SUMMARY)$/.test(e.target.tagName) && (e.key === "Enter" || e.key === " ")) return;
  const act = keys[e.key];
  if (act) { act(); e.preventDefault(); }
});

function nodes() {
  const t = trees[state.type];
  $("node-label").hidden = !t.src.nodes;
  $("node").textContent = "";
  state.node = t.src.nodes ? "each" : "all";
  if (!t.src.nodes) return;
  const list = [["each", "side by side"], ["all", "all together"]];
  for (let i = 1; i < t.n; i = t.next[i]) list.push([String(t.name[i]), t.src.names[t.name[i]]]);
  options($("node"), list);
}
options($("type"), data.trees.map((t, i) => [String(i), t.label]));
$("type-label").hidden = data.trees.length < 2;
$("diff-tools").hidden = !DIFF;
if (data.trees[0].inverted) $("view").disabled = true;
palette(); nodes(); refresh();

// For scripts and tests: where the widest frame of a name is drawn, and what is shown.
window.flame = Object.freeze({
  where(name) {
    let best = null;
    for (const s of spans) for (const [i, from, to] of s.row) {
      const t = shown[s.pane].t;
      if (nameOf(t.src, t.name[i]) !== name || best && best.width >= to - from) continue;
      const r = canvas.getBoundingClientRect();
      best = {x: r.left + (from + to) / 2, y: r.top + s.y - $("scroll").scrollTop + ROW / 2, width: to - from};
    }
    return best;
  },
  state() { const t = shown[0].t; return {view: state.view, zoom: state.zoom ? nameOf(t.src, t.name[state.zoom]) : "", frames: main().n, found: $("found").textContent, rows: spans.length, scale: state.scale, vanished: state.vanished}; },
});
})();
