// SPDX-License-Identifier: BSD-3-Clause
// Draws the charts of the report from the data block of the page, in the colours of its style sheet. Figures are worded
// where the data was made, so that the page says them in one way.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("isochrone-data").textContent);
  const element = (id) => document.getElementById(id);
  const touch = matchMedia("(hover: none)").matches;
  const config = {
    displaylogo: false, displayModeBar: touch ? false : "hover",
    modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]],
  };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const levelColour = (level) => colour(`level-${level % 6}`);

  function withAlpha(hex, alpha) {
    const value = parseInt(hex.slice(1), 16);
    return `rgba(${value >> 16}, ${(value >> 8) & 255}, ${value & 255}, ${alpha})`;
  }

  // The size is set and not left to Plotly, which would only follow after the page has been printed.
  function layout(chart, extra) {
    const axis = {
      color: colour("soft"), gridcolor: colour("line"), linecolor: colour("line"), zeroline: false, automargin: true,
      title: { font: { size: 13 }, standoff: 10 }, fixedrange: touch,
    };
    const { xaxis, yaxis, ...rest } = extra;
    return {
      width: chart.clientWidth, height: chart.clientHeight,
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("ink") },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 8, r: 8, t: 8, b: 8 },
      hoverlabel: { bgcolor: colour("ink"), bordercolor: colour("ink"), font: { color: colour("paper"), size: 12.5 } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("line"), activecolor: colour("accent") },
      dragmode: touch ? false : "zoom", showlegend: false,
      xaxis: { ...axis, ...xaxis, title: { ...axis.title, ...xaxis?.title } },
      yaxis: { ...axis, ...yaxis, title: { ...axis.title, ...yaxis?.title } },
      ...rest,
    };
  }

  // The matrix.

  const count = data.ranks;
  const latencyWords = new Map(data.latency_words);

  function latencyOf(a, b) {
    if (a === b) return null;
    const [row, column] = a < b ? [a, b] : [b, a];
    return data.latency_us[row * count - (row * (row + 1)) / 2 + column - row - 1];
  }

  const place = (rank) => {
    const cpus = data.cpus_of_rank[rank];
    return `rank ${rank} on ${data.hosts[data.host_of_rank[rank]]}${cpus === null ? "" : `, CPU ${cpus}`}`;
  };

  const positionOf = new Array(count);
  data.order.forEach((rank, position) => { positionOf[rank] = position; });

  function meetingLevel(a, b) {
    const holds = ([start, end], rank) => positionOf[rank] >= start && positionOf[rank] < end;
    return data.levels.findLast((level) => level.blocks.some((block) => holds(block, a) && holds(block, b)));
  }

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  function describePair(a, b) {
    if (a === b) return place(a);
    const us = latencyOf(a, b);
    const level = meetingLevel(a, b);
    return `${place(a)}\n${place(b)}\n${latencyWords.get(us) ?? "not measured"}${level ? `, in one ${level.noun}` : ""}`;
  }

  // Text is set as text, never as markup: host names come from files.
  function readout(chart, line, describe) {
    chart.on("plotly_hover", (event) => {
      const point = event.points[0];
      const text = describe(point.y, point.x);
      element(line).textContent = text.replaceAll("\n", " · ");
      if (touch || !event.event) return;
      tip.textContent = text;
      tip.hidden = false;
      const left = event.event.clientX + 16;
      tip.style.left = `${left + 290 > innerWidth ? left - 290 - 32 : left}px`;
      tip.style.top = `${event.event.clientY + 16}px`;
    });
    chart.on("plotly_unhover", () => { tip.hidden = true; });
  }

  function blockOutlines() {
    const depth = data.levels.length;
    // White lines part what is coloured; on the paper of pairs that were not measured they would not be seen.
    const line = data.scale.complete ? "#ffffff" : "#525b64";
    return data.scale.outlines.map((squares, index) => {
      const x = [], y = [];
      for (const [start, end] of squares) {
        const [a, b] = [start - 0.5, end - 0.5];
        x.push(a, b, b, a, a, null);
        y.push(a, a, b, b, a, null);
      }
      const width = Math.max(0.7, 2.2 - 0.6 * (index - 1)) * (count > 200 && index === depth - 1 ? 0.8 : 1);
      return { x, y, type: "scatter", mode: "lines", line: { color: line, width }, hoverinfo: "skip" };
    }).filter((trace) => trace.x.length);
  }

  function matrix(id, order, outlines) {
    const chart = element(id);
    if (!chart || !data.scale) return;
    const z = order.map((a) => order.map((b) => {
      const us = latencyOf(a, b);
      return us ? Math.log10(us) : null;
    }));
    const { low_us: low, high_us: high, tickvals, ticktext, marks } = data.scale;
    const heat = {
      z, type: "heatmap", colorscale: "Viridis", zmin: Math.log10(low), zmax: Math.log10(high), hoverinfo: "none",
      hoverongaps: true, showscale: true,
      colorbar: {
        orientation: "h", thickness: 10, len: 1, y: -0.03, yanchor: "top", x: 0.5, outlinewidth: 0, tickfont: { size: 12 },
        tickvals: tickvals.map(Math.log10), ticktext,
      },
    };
    const axis = {
      tickvals: marks, ticktext: marks.map((i) => String(order[i])), showgrid: false, ticks: "", constrain: "domain",
    };
    Plotly.react(chart, [heat, ...outlines], layout(chart, {
      xaxis: { ...axis, side: "top", range: [-0.5, count - 0.5] },
      yaxis: { ...axis, range: [count - 0.5, -0.5], scaleanchor: "x" },
      plot_bgcolor: colour("missing"), margin: { l: 34, r: 4, t: 24, b: 48 },
    }), config);
    if (!chart.dataset.wired) {
      readout(chart, "matrix-readout", (row, column) => describePair(order[row], order[column]));
      chart.dataset.wired = "yes";
    }
  }

  // The mapping.

  // Of a cell, which several ranks may share.
  function ranksOf(cell, order, hostOf, { ranks, side }) {
    const first = Math.ceil((cell * ranks) / side), end = Math.ceil(((cell + 1) * ranks) / side);
    const members = order.slice(first, end);
    const hosts = [...new Set(members.map((rank) => data.hosts[hostOf[rank]]))];
    const where = `on ${hosts[0]}${hosts.length > 1 ? ` and ${hosts.length - 1} more` : ""}`;
    return members.length > 1 ? `${members.length} ranks (${members.slice(0, 4).join(", ")}${members.length > 4 ? ", …" : ""}) ${where}`
      : `rank ${members[0]} ${where}`;
  }

  function sentMatrix(id, cells, order, hostOf, shown) {
    const chart = element(id);
    const { ranks, side, low, high, tickvals, ticktext, marks, words } = data.mapping.sent;
    const bytesWords = new Map(words);
    const z = Array.from({ length: side }, (_, row) => cells.slice(row * side, (row + 1) * side));
    const outlines = shown.map((squares, depth) => {
      const x = [], y = [];
      for (const [start, end] of squares) {
        const [a, b] = [start - 0.5, end - 0.5];
        x.push(a, b, b, a, a, null);
        y.push(a, a, b, b, a, null);
      }
      const line = { color: "#525b64", width: Math.max(0.7, 2.2 - 0.6 * (depth - 1)) };
      return { x, y, type: "scatter", mode: "lines", line, hoverinfo: "skip" };
    }).filter((trace) => trace.x.length);
    const heat = {
      z, type: "heatmap", colorscale: "Viridis", reversescale: true, zmin: low, zmax: Math.max(high, low + 0.01), hoverinfo: "none",
      hoverongaps: true, showscale: true,
      colorbar: {
        orientation: "h", thickness: 10, len: 1, y: -0.03, yanchor: "top", x: 0.5, outlinewidth: 0, tickfont: { size: 12 },
        tickvals, ticktext,
      },
    };
    const axis = {
      tickvals: marks, ticktext: marks.map((cell) => String(order[Math.ceil((cell * ranks) / side)])), showgrid: false, ticks: "",
      constrain: "domain",
    };
    Plotly.react(chart, [heat, ...outlines], layout(chart, {
      xaxis: { ...axis, side: "top", range: [-0.5, side - 0.5] },
      yaxis: { ...axis, range: [side - 0.5, -0.5], scaleanchor: "x" },
      plot_bgcolor: colour("missing"), margin: { l: 34, r: 4, t: 24, b: 48 },
    }), config);
    if (chart.dataset.wired) return;
    readout(chart, "mapping-readout", (row, column) => {
      const [from, to] = [row, column].map((cell) => ranksOf(cell, order, hostOf, data.mapping.sent));
      return `${from}\nto ${to}\n${bytesWords.get(z[row][column]) ?? "nothing"}`;
    });
    chart.dataset.wired = "yes";
  }

  function mapping() {
    const found = data.mapping;
    if (!found) return;
    if (element("mapping-found")) {
      const inOrder = Array.from({ length: found.sent.ranks }, (_, rank) => rank);
      sentMatrix("mapping-found", found.sent.found, inOrder, found.host_in_order, []);
      sentMatrix("mapping-mapped", found.sent.mapped, found.sent.order, found.host_mapped, found.sent.outlines);
    }
    const chart = element("mapping-levels");
    if (!chart) return;
    const names = found.levels.map(({ noun }) => escapeText(noun));
    const bars = (name, key, colourName) => ({
      type: "bar", orientation: "h", name, y: names, x: found.levels.map((level) => level[key]),
      marker: { color: colour(colourName) },
      text: found.levels.map((level) => `${name}: ${level[`${key}_words`]}`), textposition: "none",
      hovertemplate: "%{y}, %{text}<extra></extra>",
    });
    Plotly.react(chart, [bars("In their order", "before", "native"), bars("Mapped", "after", "plan")], layout(chart, {
      xaxis: { title: { text: "Share of all bytes" }, tickformat: ".0%", rangemode: "tozero" },
      yaxis: { autorange: "reversed", showgrid: false, ticklabelstandoff: 6 },
      showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 13 }, itemclick: "toggle" },
      margin: { l: 8, r: 8, t: 40, b: 8 }, bargap: 0.3, hovermode: "closest",
    }), config);
  }

  // The tree.

  function dendrogram() {
    const chart = element("dendrogram");
    if (!chart || !data.tree) return;
    const { merges, cuts, floor_us: floor, top_us: top, leaves, tickvals, ticktext } = data.tree;
    const byLevel = new Map();
    for (const [level, left, right, leftUs, rightUs, height, words] of merges) {
      if (!byLevel.has(level)) byLevel.set(level, { x: [], y: [], text: [] });
      const lines = byLevel.get(level);
      lines.x.push(left, left, right, right, null);
      lines.y.push(leftUs, height, height, rightUs, null);
      lines.text.push("", words, words, "", "");
    }
    const traces = [...byLevel].sort((a, b) => a[0] - b[0]).map(([level, lines]) => ({
      ...lines, type: "scatter", mode: "lines", line: { color: levelColour(level), width: lines.x.length > 1000 ? 0.6 : 1.6 },
      hoverinfo: "text",
    }));
    const shapes = cuts.map((cut) => ({
      type: "line", xref: "paper", x0: 0, x1: 1, y0: cut.height_us, y1: cut.height_us,
      line: { color: colour("soft"), width: 1.2, dash: "dash" },
    }));
    const annotations = cuts.map((cut) => ({
      xref: "paper", x: 1, xanchor: "right", y: Math.log10(cut.height_us), yanchor: "bottom", showarrow: false,
      text: `${escapeText(cut.nouns)} · ${cut.words}`, font: { size: 12.5, color: colour("ink") },
      bgcolor: withAlpha(colour("paper"), 0.82), borderpad: 2,
    }));
    Plotly.react(chart, traces, layout(chart, {
      xaxis: { showticklabels: false, showgrid: false, title: { text: `${leaves} ranks` }, range: [-1, leaves] },
      yaxis: { type: "log", title: { text: "Latency" }, range: [Math.log10(floor), Math.log10(top)], tickvals, ticktext },
      margin: { l: 8, r: 4, t: 12, b: 8 }, shapes, annotations, hovermode: "closest",
    }), config);
  }

  const escapeText = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  // A collective by size.

  const looks = { native: ["square", "dash"], plan: ["circle", "solid"], rival: ["diamond", "dot"] };

  function series({ sizes }, { name, kind, values, words }) {
    const line = colour(kind);
    const [symbol, dash] = looks[kind];
    const band = { x: [], y: [] };
    for (const run of runsOf(values)) {
      band.x.push(...run.map((i) => sizes[i]), ...run.map((i) => sizes[i]).reverse(), null);
      band.y.push(...run.map((i) => values[i][1]), ...run.map((i) => values[i][2]).reverse(), null);
    }
    return [{
      ...band, type: "scatter", mode: "lines", fill: "toself", fillcolor: withAlpha(line, 0.2), line: { width: 0 }, hoverinfo: "skip",
      showlegend: false, legendgroup: name,
    }, {
      x: sizes, y: values.map((value) => value && value[0]), connectgaps: false,
      type: "scatter", mode: "lines+markers", name, legendgroup: name,
      line: { color: line, width: 2.2, dash }, marker: { symbol, size: 7, color: line },
      text: words.map((said) => said && escapeText(`${name}, ${said}`)), hovertemplate: "%{text}<extra></extra>",
    }];
  }

  // The positions of what was measured, in runs without a gap: no line goes over sizes that were not.
  function runsOf(values) {
    const runs = [];
    values.forEach((value, i) => {
      if (!value) return;
      if (i && values[i - 1]) runs[runs.length - 1].push(i);
      else runs.push([i]);
    });
    return runs;
  }

  function sizeAxis({ size_axis: axis, sizes }) {
    const [low, high] = [Math.log10(sizes[0]), Math.log10(sizes[sizes.length - 1])];
    const pad = Math.max(0.1, (high - low) * 0.02);
    return { type: "log", ...axis, range: [low - pad, high + pad] };
  }

  function bySize(chart, shown, { lines, range, tickvals, ticktext }, title, shapes) {
    Plotly.react(chart, lines.flatMap((line) => series(shown, line)), layout(chart, {
      xaxis: sizeAxis(shown), yaxis: { type: "log", title: { text: title }, range, tickvals, ticktext }, shapes, showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 13 }, itemclick: "toggle" },
      margin: { l: 8, r: 8, t: 40, b: 8 }, hovermode: "closest",
    }), config);
  }

  function collective(stem, shown) {
    const times = element(`${stem}-time`);
    if (!times) return;
    bySize(times, shown, shown.times, "Time of the slowest rank", []);
    const even = { type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: { color: colour("ink"), width: 1.4 } };
    bySize(element(`${stem}-speedup`), shown, shown.speedups, "Speedup of the plan", [even]);
  }

  function drawAll() {
    matrix("matrix-found", Array.from({ length: count }, (_, rank) => rank), []);
    matrix("matrix-ordered", data.order, data.scale ? blockOutlines() : []);
    dendrogram();
    mapping();
    for (const [stem, shown] of Object.entries(data.collectives)) collective(stem, shown);
  }

  drawAll();
  let drawnWidth = innerWidth;
  let waiting;
  addEventListener("resize", () => {
    if (innerWidth === drawnWidth) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => { drawnWidth = innerWidth; drawAll(); }, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  const printing = (on) => () => { document.documentElement.classList.toggle("printing", on); drawAll(); };
  addEventListener("beforeprint", printing(true));
  addEventListener("afterprint", printing(false));
})();
