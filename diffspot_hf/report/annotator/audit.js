// Mode audit: is a prediction that no annotation matches a real defect? One decision for each.

const FORMAT = "diffspot-hf/decisions";
const OPTIONS = [["real", "Real defect", "1"], ["not_a_defect", "Not a defect", "2"], ["unsure", "Unsure", "3"]];
const VALUES = OPTIONS.map(([value]) => value);

const mode = {
  views: ["side", "swipe", "blink"],
  current: 0,
  known: false,

  start(viewer) {
    this.viewer = viewer;
  },
  enter() {
    const open = app.row.predictions.findIndex((prediction) => !this.decision(app.row, prediction));
    this.current = Math.max(0, open);
  },
  decisions(row) {
    return store.entry(row.id) || {};
  },
  decision(row, prediction) {
    return this.decisions(row)[prediction.index]?.decision;
  },
  put(prediction, change, group) {
    const all = structuredClone(this.decisions(app.row));
    all[prediction.index] = { decision: null, note: "", ...all[prediction.index], ...change };
    steps.take([[app.row.id, all]], group);
  },
  choose(value) {
    const prediction = app.row.predictions[this.current];
    if (!prediction) return;
    const taken = this.decision(app.row, prediction) === value;
    this.put(prediction, { decision: taken ? null : value });
    if (!taken) {
      const next = app.row.predictions.findIndex((other) => !this.decision(app.row, other));
      if (next < 0) return app.nextOpen();
      this.current = next;
    }
    app.refresh();
  },

  draw() {
    const marks = [];
    if (this.known) for (const issue of app.row.known) for (const side of SIDES) marks.push({ box: issue[`box_${side}`], side, kind: "known" });
    app.row.predictions.forEach((prediction, number) => {
      for (const side of SIDES)
        marks.push({ box: prediction[`box_${side}`], side, kind: number === this.current ? "current" : "faint", label: String(number + 1) });
    });
    this.viewer.mark(marks);
  },
  panel() {
    return [
      make("p", { class: "hint" }, "These predictions match no annotated issue. Is there really a defect at the marked place?"),
      make("ol", { class: "cards" }, app.row.predictions.map((prediction, number) => this.card(prediction, number))),
      app.row.known.length ? make("label", { class: "check" },
        make("input", { type: "checkbox", checked: this.known, onchange: (event) => { this.known = event.target.checked; app.refresh(); } }),
        `Show the ${app.row.known.length} annotated issues`, keyCap("K")) : null,
    ];
  },
  card(prediction, number) {
    const current = number === this.current;
    const entry = this.decisions(app.row)[prediction.index] || {};
    const head = make("button", { type: "button", class: "cardhead", "aria-expanded": String(current), onclick: () => { this.current = number; app.refresh(); } },
      make("b", {}, String(number + 1)), " ", prediction.labels.join(", ") || "no tag", entry.decision ? make("span", { class: `pill ${entry.decision}` }, OPTIONS.find(([v]) => v === entry.decision)[1]) : null);
    const boxes = SIDES.some((side) => isBox(prediction[`box_${side}`])) ? null : make("p", { class: "warn" }, "no box was given");
    return make("li", { class: current ? "card current" : "card" }, head, make("p", { class: "note" }, prediction.note || "(no note)"), boxes,
      current ? choices("Decision", OPTIONS, entry.decision, (value) => this.choose(value)) : null,
      current ? noteField("Your note (optional)", entry.note, (text, group) => this.put(prediction, { note: text }, group), { id: "note" }) : null);
  },
  key(pressed) {
    const value = VALUES[Number(pressed) - 1];
    if (value) return this.choose(value), true;
    if (pressed === "k" && app.row.known.length) return (this.known = !this.known), app.refresh(), true;
    if (pressed === "t") return document.getElementById("note")?.focus(), true;
    if (pressed === "]" || pressed === "[") {
      const count = app.row.predictions.length;
      if (!count) return false;
      this.current = (this.current + (pressed === "]" ? 1 : -1) + count) % count;
      return app.refresh(), true;
    }
    return false;
  },
  help: [["1, 2, 3", "real defect, not a defect, unsure"], ["[ ]", "previous, next prediction"], ["T", "note; Esc leaves it"], ["K", "show what is annotated"]],

  status(row) {
    const count = row.predictions.filter((prediction) => this.decision(row, prediction)).length;
    return count === row.predictions.length ? "done" : count ? "partly" : "";
  },
  progress() {
    const all = data.rows.flatMap((row) => row.predictions.map((prediction) => this.decision(row, prediction)));
    return [all.filter(Boolean).length, all.length, "predictions"];
  },
  exported() {
    const decisions = () => data.rows.flatMap((row) =>
      row.predictions.filter((prediction) => this.decision(row, prediction)).map((prediction) => {
        const { decision, note } = this.decisions(row)[prediction.index];
        return { row_id: row.id, prediction_index: prediction.index, about: prediction.about || undefined, decision, note };
      }));
    return [["audit-decisions.json", "Export JSON", () => JSON.stringify({ format: FORMAT, version: 1, mode: "audit", decisions: decisions() }, null, 1)]];
  },
  imported(given) {
    const list = checkedExport(given, "decisions", FORMAT, "audit");
    const changes = new Map();
    let [used, replaced] = [0, 0];
    for (const entry of list) {
      const row = data.rows.find((other) => other.id === entry?.row_id);
      const prediction = row?.predictions.find((other) => other.index === entry.prediction_index);
      if (!prediction || (entry.about && prediction.about && entry.about !== prediction.about) || !VALUES.includes(entry.decision)) continue;
      const here = this.decisions(row)[prediction.index];
      const there = { decision: entry.decision, note: typeof entry.note === "string" ? entry.note : "" };
      changes.set(row.id, { ...(changes.get(row.id) || this.decisions(row)), [prediction.index]: there });
      used += 1;
      if ((here?.decision || here?.note) && !same(here, there)) replaced += 1;
    }
    return { changes, replaced, says: `${used} of ${list.length} decisions read` };
  },
};
