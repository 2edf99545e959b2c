// SPDX-License-Identifier: BSD-3-Clause
// Draws the fabric in rows: hosts below, then switches by their distance from hosts. All text of the dumps is
// set as text, never as markup.
"use strict";

const NAMESPACE = "http://www.w3.org/2000/svg";
const LOOK_EVERY_MS = 2000;
const SWITCH = { width: 30, height: 12 };
const HOST = 5; // its room; it is drawn a little smaller
const LEAST_ROW = 110;
// Thinner and paler is slower; links of unknown speed are grey.
const HUES = ["#9db4c8", "#7aa6c2", "#4f94bd", "#2a7fb0", "#12699a", "#0b4f7d", "#07365a", "#041f38"];
const SPEEDS = ["SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"];

const byId = (id) => document.getElementById(id);
const state = { serial: null, hosts: new Map(), switches: new Map(), cables: new Map(), all: null, view: null };

function make(name, attributes, parent) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
}

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

async function get(path) {
  const answer = await fetch(path, { cache: "no-store" });
  const told = await answer.json();
  return { ok: answer.ok, status: answer.status, told };
}

/** Where things stand: switches in rows by tier, those above over the middle of what is below them. */
function layout(fabric) {
  const below = new Map(); // of a switch, the switches under it
  const tier = new Map(fabric.switches.map((each) => [each.guid, each.tier]));
  for (const { from, to } of fabric.cables) {
    if (tier.get(from) === tier.get(to)) continue;
    const [low, high] = tier.get(from) < tier.get(to) ? [from, to] : [to, from];
    if (!below.has(high)) below.set(high, new Set());
    below.get(high).add(low);
  }
  const hostsAt = new Map();
  for (const host of fabric.hosts) {
    if (!hostsAt.has(host.at)) hostsAt.set(host.at, []);
    hostsAt.get(host.at).push(host);
  }
  const most = Math.max(1, ...[...hostsAt.values()].map((hosts) => hosts.length));
  const columns = Math.max(4, Math.ceil(Math.sqrt(most * 2)));
  const leafWidth = Math.max(SWITCH.width, columns * HOST) + 8;
  const rows = [];
  for (const each of fabric.switches) (rows[each.tier] ??= []).push(each);
  const width = leafWidth * Math.max(1, ...rows.map((row) => (row ? row.length : 0)));
  const row = Math.max(LEAST_ROW, (width * 0.5) / Math.max(1, rows.length - 1));
  const centres = new Map();
  rows.forEach((line, number) => {
    const middle = (each) => {
      const under = [...(below.get(each.guid) ?? [])].map((guid) => centres.get(guid)?.x ?? 0);
      return under.length ? under.reduce((sum, x) => sum + x, 0) / under.length : 0;
    };
    const order = number === 0
      ? [...line].sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }))
      : line.map((each) => [middle(each), each])
        .sort((one, other) => one[0] - other[0]
          || one[1].name.localeCompare(other[1].name, "en", { numeric: true }))
        .map((pair) => pair[1]);
    order.forEach((each, at) => {
      centres.set(each.guid, { x: ((at + 0.5) * width) / order.length, y: (rows.length - 1 - number) * row });
    });
  });
  return { centres, hostsAt, columns, width, rows, row };
}

function look(link, most) {
  const [, lanes, speed] = /^(\d+)x(.*)$/.exec(link) ?? [null, "0", ""];
  const at = SPEEDS.indexOf(speed);
  if (at < 0) return { stroke: "#b8c0c8", "stroke-width": 1 };
  const hue = HUES[Math.min(HUES.length - 1, Math.max(0, at - 1))];
  return { stroke: hue, "stroke-width": (most > 600 ? 0.5 : 1) * (Number(lanes) >= 8 ? 2 : 1) };
}

function draw(fabric) {
  const svg = byId("drawing");
  svg.replaceChildren();
  state.hosts.clear();
  state.switches.clear();
  state.cables.clear();
  const { centres, hostsAt, columns, width, rows, row } = layout(fabric);
  const names = new Map(fabric.switches.map((each) => [each.guid, each.name || each.guid]));
  const cables = make("g", {}, svg);
  const twins = new Map(); // of parallel cables each is bent a little more
  for (const cable of fabric.cables) {
    const [one, other] = [centres.get(cable.from), centres.get(cable.to)];
    const key = [cable.from, cable.to].sort().join();
    const nth = twins.get(key) ?? 0;
    twins.set(key, nth + 1);
    const bend = (nth % 2 ? -1 : 1) * Math.ceil(nth / 2) * 4;
    const flat = one.y === other.y ? -30 : 0;
    const path = `M${one.x},${one.y} Q${(one.x + other.x) / 2 + bend},${(one.y + other.y) / 2 + flat} ${other.x},${other.y}`;
    const drawn = make("path", { class: "cable", d: path, ...look(cable.link, fabric.cables.length) }, cables);
    make("title", {}, drawn).textContent =
      `${names.get(cable.from)} port ${cable.from_port} to ${names.get(cable.to)} port ${cable.to_port} ${cable.link}`;
    state.cables.set(`${cable.from}/${cable.from_port}`, drawn);
    state.cables.set(`${cable.to}/${cable.to_port}`, drawn);
  }
  for (const each of fabric.switches) {
    const { x, y } = centres.get(each.guid);
    const group = make("g", { class: "switch" }, svg);
    const { width: w, height: h } = SWITCH;
    make("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 2 }, group);
    make("title", {}, group).textContent = `${each.name} ${each.guid}`;
    // Names that would run into one another are only shown when the mouse is over them.
    if (rows[each.tier].length <= 24) {
      make("text", { x, y: y - h * 0.75, "font-size": 6, "text-anchor": "middle" }, group).textContent =
        each.name.length > 18 ? `${each.name.slice(0, 17)}…` : each.name;
    }
    state.switches.set(each.guid, group);
    (hostsAt.get(each.guid) ?? []).forEach((host, at) => {
      const left = x - (Math.min(columns, hostsAt.get(each.guid).length) * HOST) / 2;
      const drawn = make("rect", {
        class: "host", x: left + (at % columns) * HOST + 0.5, y: y + h / 2 + 5 + Math.floor(at / columns) * HOST,
        width: HOST - 1, height: HOST - 1, rx: 1, "data-name": host.name,
      }, svg);
      make("title", {}, drawn).textContent = `${host.name} ${host.link}`;
      drawn.addEventListener("click", () => choose(host.name));
      if (!state.hosts.has(host.name)) state.hosts.set(host.name, drawn);
    });
  }
  const deepest = Math.ceil(Math.max(1, ...[...hostsAt.values()].map((hosts) => hosts.length)) / columns);
  state.all = { x: -10, y: -40, width: width + 20, height: (rows.length - 1) * row + 70 + deepest * HOST };
  state.view = { ...state.all };
  show();
  legend(fabric);
}

function legend(fabric) {
  const seen = new Map();
  for (const { link } of [...fabric.cables, ...fabric.hosts]) if (link) seen.set(link, (seen.get(link) ?? 0) + 1);
  byId("legend").replaceChildren(...[...seen].sort().map(([link, count]) => {
    const item = element("li", "");
    const svg = make("svg", { viewBox: "0 0 20 8" }, item);
    make("line", { x1: 0, y1: 4, x2: 20, y2: 4, ...look(link, 0) }, svg);
    item.append(`${link} (${count})`);
    return item;
  }));
}

function show() {
  const { x, y, width, height } = state.view;
  byId("drawing").setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
}

function choose(name) {
  const [from, to] = [byId("from"), byId("to")];
  if (!from.value || to.value) {
    from.value = name;
    to.value = "";
    clear();
    state.hosts.get(name)?.classList.add("on");
  } else {
    to.value = name;
    ask();
  }
}

function clear() {
  for (const each of document.querySelectorAll("svg .on")) each.classList.remove("on");
  byId("route").replaceChildren();
}

async function ask() {
  const [from, to] = [byId("from").value.trim(), byId("to").value.trim()];
  if (!from || !to) return;
  const { ok, told } = await get(`route?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`);
  clear();
  const room = byId("route");
  if (!ok) {
    room.append(element("p", typeof told.detail === "string" ? told.detail : "This cannot be asked.", "error"));
    return;
  }
  for (const name of [from, to]) state.hosts.get(name)?.classList.add("on");
  for (const step of told.path) {
    state.switches.get(step.switch)?.classList.add("on");
    const cable = state.cables.get(`${step.switch}/${step.out_port}`);
    cable?.classList.add("on");
  }
  const speed = told.speed ? `, ${told.speed} Gb/s` : "";
  room.append(element("p", `${told.hops} ${told.hops === 1 ? "switch" : "switches"}${speed}`));
  const table = element("table", "");
  const head = element("tr", "");
  head.append(element("th", "In", "number"), element("th", "Switch"), element("th", "Out", "number"));
  table.append(head);
  for (const step of told.path) {
    const row = element("tr", "");
    row.title = step.switch;
    row.append(element("td", step.in_port, "number"), element("td", step.name), element("td", step.out_port, "number"));
    table.append(row);
  }
  room.append(table);
}

async function refresh() {
  try {
    const { told: health } = await get("health");
    const line = byId("health");
    line.textContent = health.ok ? "ok" : `alarm: ${health.alarm}`;
    line.className = health.ok ? "" : "alarm";
    if (health.serial !== state.serial) {
      const [{ told: fabric }, { told: found }] = await Promise.all([get("fabric"), get("findings")]);
      state.serial = fabric.serial;
      byId("counts").textContent = `${health.hosts} hosts, ${health.switches} switches, ${health.links} links`
        + (fabric.generation ? `, generation ${fabric.generation}` : "");
      byId("hosts").replaceChildren(...[...new Set(fabric.hosts.map((host) => host.name))].map((name) => {
        const option = document.createElement("option");
        option.value = name;
        return option;
      }));
      draw(fabric);
      const items = found.findings.map((each) =>
        element("li", `${each.kind}: ${each.words}${each.examples.length ? `, such as ${each.examples[0]}` : ""}`, each.severity));
      items.push(...found.remarks.map((remark) => element("li", remark, "info")));
      byId("findings").replaceChildren(...(items.length ? items : [element("li", "Nothing is wrong.", "info")]));
      await ask();
    }
  } catch {
    byId("health").textContent = "the server does not answer";
    byId("health").className = "alarm";
  }
  setTimeout(refresh, LOOK_EVERY_MS);
}

/** From the mouse to the drawing's own units. */
function place(event) {
  const found = new DOMPoint(event.clientX, event.clientY).matrixTransform(byId("drawing").getScreenCTM().inverse());
  return { x: found.x, y: found.y };
}

function listen() {
  const svg = byId("drawing");
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = place(event);
    const scale = event.deltaY > 0 ? 1.2 : 1 / 1.2;
    const view = state.view;
    state.view = {
      x: at.x - (at.x - view.x) * scale, y: at.y - (at.y - view.y) * scale,
      width: view.width * scale, height: view.height * scale,
    };
    show();
  }, { passive: false });
  let from = null;
  svg.addEventListener("pointerdown", (event) => { from = place(event); });
  window.addEventListener("pointerup", () => {
    from = null;
    svg.classList.remove("moving");
  });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    svg.classList.add("moving");
    const at = place(event);
    state.view.x += from.x - at.x;
    state.view.y += from.y - at.y;
    show();
  });
  svg.addEventListener("dblclick", () => {
    state.view = { ...state.all };
    show();
  });
}

listen();
refresh();
