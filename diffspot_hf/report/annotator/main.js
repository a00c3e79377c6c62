// The frame around a mode: header, list of rows, viewer, panel, keys.

const app = {
  index: 0,
  get row() {
    return data.rows[this.index];
  },

  start() {
    store.load();
    this.viewer = new Viewer(data.sides, mode.views);
    this.build();
    mode.start(this.viewer);
    for (const pane of this.viewer.panes) pane.image.addEventListener("load", () => mode.draw());
    this.goTo(clamp(store.state.index || 0, 0, data.rows.length - 1), true);
    addEventListener("keydown", (event) => this.key(event));
  },
  build() {
    const button = (label, key, act, props = {}) => make("button", { type: "button", title: key ? `${label} (${key})` : label, onclick: act, ...props }, label);
    const names = { side: ["Side by side", "S"], swipe: ["Swipe", "W"], blink: ["Blink", "X"] };
    this.viewButtons = mode.views.map((view) => button(names[view][0], names[view][1], () => this.setView(view), { "data-view": view }));
    this.zoomLabel = make("output", { class: "zoom", "aria-label": "Zoom" });
    this.bar = make("progress", { max: "1", value: "0", "aria-label": "Progress" });
    this.counted = make("span", { class: "counted" });
    this.saved = make("span", { class: "saved", role: "status" });
    this.message = make("div", { class: "message", role: "status", "aria-live": "polite", hidden: true });
    this.files = make("span", { class: "row" });
    this.list = make("ul", {});
    this.side = make("aside", { class: "panel", "aria-label": "Decisions" });
    this.title = make("h2", {});
    this.rowsBox = make("nav", { class: "rows", "aria-label": "Rows" }, this.list);
    this.previous = button("‹ Previous", "J", () => this.goTo(this.index - 1));
    this.next = button("Next ›", "L", () => this.goTo(this.index + 1));
    this.undo = button("Undo", "U", () => steps.undo(), { disabled: true });
    this.redo = button("Redo", "Y", () => steps.redo(), { disabled: true });
    const parts = [
      make("header", {}, make("h1", {}, data.title), this.bar, this.counted, this.saved, make("span", { class: "grow" }),
        mode.linear ? null : [this.undo, this.redo], this.files,
        button("Import…", "", () => pickFile((given) => this.take(given)), { "data-act": "import" }), button("Keys", "?", () => this.toggleHelp())),
      mode.linear ? null : this.rowsBox,
      make("main", {},
        make("div", { class: "tools", role: "toolbar", "aria-label": "View" },
          mode.linear ? null : [this.previous, this.next], this.title, make("span", { class: "grow" }),
          this.viewButtons.length > 1 ? this.viewButtons : null,
          button("−", "-", () => this.viewer.setZoom(this.viewer.zoom / 1.25), { "aria-label": "Zoom out" }), this.zoomLabel,
          button("+", "+", () => this.viewer.setZoom(this.viewer.zoom * 1.25), { "aria-label": "Zoom in" }), button("Fit", "0", () => this.viewer.setZoom(1))),
        this.viewer.element),
      this.side, this.message, this.help(),
    ];
    document.body.replaceChildren(...parts.filter(Boolean));
    document.body.className = mode.linear ? "linear" : "";
  },
  help() {
    const common = [["?", "these keys"], ["+ − 0", "zoom in, out, fit; also Ctrl and wheel"]];
    if (!mode.linear) common.push(["J, L", "previous, next row"], ["O", "next open row"], ["U", "undo, on any row"], ["Shift + U, Y", "redo"]);
    if (mode.views.length > 1) common.push(["S, W, X", "side by side, swipe, blink"], ["Space", "other picture, in blink view"], ["← →", "move the divider, in swipe view"]);
    this.helpBox = make("dialog", { "aria-label": "Keys" }, make("h2", {}, "Keys"),
      make("dl", {}, [...mode.help, ...common].map(([key, what]) => [make("dt", {}, keyCap(key)), make("dd", {}, what)])),
      make("button", { type: "button", class: "strong", onclick: () => this.helpBox.close() }, "Close"));
    return this.helpBox;
  },
  toggleHelp() {
    if (this.helpBox.open) this.helpBox.close();
    else this.helpBox.showModal();
  },
  setView(view) {
    this.viewer.setView(view);
    this.refresh();
  },
  say(text, wrong = false) {
    this.message.textContent = text;
    this.message.className = wrong ? "message wrong" : "message";
    this.message.hidden = false;
    clearTimeout(this.fading);
    this.fading = setTimeout(() => (this.message.hidden = true), wrong ? 12_000 : 5_000);
  },
  // Whether people agree, asked in the page: Esc and the button that has the focus at first are no.
  ask(question, yes, no) {
    const box = make("dialog", { role: "alertdialog", "aria-label": question }, make("p", {}, question),
      make("div", { class: "row" },
        make("button", { type: "button", onclick: () => box.close() }, no),
        make("button", { type: "button", class: "danger", "data-act": "yes", onclick: () => box.close("yes") }, yes)));
    document.body.append(box);
    box.showModal();
    return new Promise((told) => box.addEventListener("close", () => (box.remove(), told(box.returnValue === "yes"))));
  },
  // Reads an export in one step. What it would replace is asked about first.
  async take(given) {
    const { changes, replaced, says, then } = mode.imported(given);
    const [, all, unit] = mode.progress();
    const question = `Replace your work on ${replaced} of ${all} ${unit}? The file says something else there.`;
    if (replaced && !(await this.ask(question, "Replace", "Keep mine"))) return "Nothing was read.";
    steps.take([...changes]);
    then?.();
    mode.enter();
    return says;
  },
  showSteps() {
    this.undo.disabled = !steps.past.length;
    this.redo.disabled = !steps.future.length;
  },
  showSaved() {
    this.saved.textContent = store.safe ? "saved in this browser" : "this browser saves nothing: export before you close";
    this.saved.classList.toggle("wrong", !store.safe);
  },
  goTo(index, force = false) {
    const next = clamp(index, 0, data.rows.length - 1);
    if (next === this.index && !force) return this.refresh();
    this.index = store.state.index = next;
    if (!force) store.touch();
    this.viewer.show(this.row);
    mode.enter();
    this.refresh();
    const after = data.rows[next + 1];
    if (after && !mode.linear) for (const source of after.pictures) new Image().src = source;
  },
  nextOpen() {
    const count = data.rows.length;
    for (let step = 1; step <= count; step += 1) {
      const index = (this.index + step) % count;
      if (mode.status(data.rows[index]) !== "done") return this.goTo(index);
    }
    this.say("Everything is decided. Export the file.");
    this.refresh();
  },

  // Draws all that depends on the state. The focus stays where it was, by the place of the focused element.
  refresh() {
    const focus = this.focused();
    const [done, all, unit] = mode.progress();
    this.bar.value = all ? done / all : 0;
    this.counted.textContent = `${done} of ${all} ${unit}`;
    this.title.textContent = mode.linear ? `Item ${this.index + 1} of ${data.rows.length}` : this.row.id;
    this.previous.disabled = this.index === 0;
    this.next.disabled = this.index === data.rows.length - 1;
    this.files.replaceChildren(...mode.exported().map(([name, label, text]) =>
      make("button", { type: "button", class: "strong", "data-act": "export", "data-file": name, onclick: () => download(name, text(), name.endsWith("l") ? "application/jsonl" : "application/json") }, label)));
    for (const button of this.viewButtons) button.setAttribute("aria-pressed", String(button.dataset.view === this.viewer.view));
    if (!mode.linear) this.drawList();
    this.side.replaceChildren(...mode.panel().flat().filter(Boolean));
    mode.draw();
    mode.showClock?.();
    this.showSaved();
    this.showSteps();
    focus?.();
  },
  drawList() {
    if (this.list.children.length !== data.rows.length)
      this.list.replaceChildren(...data.rows.map((row, i) => make("li", {}, make("button", { type: "button", onclick: () => this.goTo(i) }, make("i", { class: "dot" }), make("span", {}, row.id)))));
    data.rows.forEach((row, i) => {
      const button = this.list.children[i].firstChild;
      const status = mode.status(row);
      button.className = status;
      button.setAttribute("aria-current", String(i === this.index));
      button.setAttribute("aria-label", `${row.id}, ${{ done: "done", partly: "begun" }[status] || "open"}`);
    });
    this.list.children[this.index].scrollIntoView({ block: "nearest" });
  },
  focused() {
    const active = document.activeElement;
    if (!active || !this.side.contains(active)) return null;
    const all = (root) => [...root.querySelectorAll("button, input, textarea")];
    const place = all(this.side).indexOf(active);
    const selection = active.tagName === "TEXTAREA" ? [active.selectionStart, active.selectionEnd] : null;
    const [id, text] = [active.id, active.textContent];
    return () => {
      const target = (id && document.getElementById(id)) || all(this.side)[place];
      if (target?.tagName !== active.tagName || target.textContent !== text) return;
      target.focus({ preventScroll: true });
      if (selection) target.setSelectionRange(...selection);
    };
  },

  key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || event.target.closest("textarea, input[type=text]")) return;
    // Enter and Space press the focused button, except that Enter on an option of the test sends it.
    if (event.key === " " && event.target.closest("button, input")) return;
    if (event.key === "Enter" && event.target.closest("button:not(.option), input")) return;
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key; // with Shift or CapsLock as without
    if (mode.key(pressed)) return event.preventDefault();
    const viewer = this.viewer;
    const move = (step) => (viewer.view === "swipe" ? viewer.setSwipe(viewer.swipe + step) : null);
    const act = {
      "?": () => this.toggleHelp(), "+": () => viewer.setZoom(viewer.zoom * 1.25), "=": () => viewer.setZoom(viewer.zoom * 1.25),
      "-": () => viewer.setZoom(viewer.zoom / 1.25), 0: () => viewer.setZoom(1),
      s: () => this.setView("side"), w: () => this.setView("swipe"), x: () => this.setView("blink"),
      " ": () => viewer.view === "blink" && viewer.flip(),
      ArrowLeft: () => move(-0.02), ArrowRight: () => move(0.02),
    }[pressed];
    const walk = mode.linear ? null : {
      j: () => this.goTo(this.index - 1), l: () => this.goTo(this.index + 1), o: () => this.nextOpen(),
      u: () => (event.shiftKey ? steps.redo() : steps.undo()), y: () => steps.redo(),
    }[pressed];
    if (!act && !walk) return;
    if (event.key.startsWith("Arrow") && viewer.view !== "swipe") return;
    event.preventDefault();
    (act || walk)();
  },
};

app.start();
