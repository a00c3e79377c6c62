// Boxes that people draw: with the mouse (draw, move, eight handles) and with the keyboard (arrows, Shift, Alt).

const HANDLES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];
const SMALLEST = 4; // picture pixels; a smaller drag is a click

class BoxEditor {
  // `hooks`: boxes() -> [{number, side, box, current}], change(side, number, box, done), select(number), create(side, box)
  constructor(viewer, hooks) {
    this.viewer = viewer;
    this.hooks = hooks;
    for (const pane of viewer.panes) {
      pane.sheet.classList.add("drawable");
      pane.sheet.addEventListener("pointerdown", (event) => this.press(event, pane));
    }
  }

  draw() {
    const side = document.activeElement?.closest?.(".box")?.dataset.key[0];
    for (const pane of this.viewer.panes) pane.layer.replaceChildren();
    for (const { number, side, box, current } of this.hooks.boxes()) {
      if (!isBox(box)) continue;
      const pane = this.viewer.panes[SIDES.indexOf(side)];
      const element = make(
        "div",
        {
          class: current ? "box current" : "box", tabindex: "0", role: "group", "data-key": `${side}${number}`, "data-number": String(number),
          "aria-label": `Box of issue ${number + 1} on side ${side.toUpperCase()}; arrow keys move it, Alt and arrow keys resize it`,
          onfocus: () => this.hooks.select(number),
          onkeydown: (event) => this.key(event, pane, side, number),
        },
        make("span", { class: "tagline" }, String(number + 1)),
        current ? HANDLES.map((handle) => make("i", { class: `handle ${handle}`, "data-handle": handle })) : [],
      );
      place(element, box);
      pane.layer.append(element);
    }
    if (side) this.keepFocus(side);
  }

  // A focused box hands its focus on with the selection; when nothing is selected, the pane has it.
  keepFocus(side) {
    const { layer, scroll } = this.viewer.panes[SIDES.indexOf(side)];
    const target = layer.querySelector(".box.current") || this.viewer.element.querySelector(".box.current") || scroll;
    target.focus({ preventScroll: true });
  }

  point(event, pane) {
    const rect = pane.sheet.getBoundingClientRect();
    return [clamp((event.clientX - rect.left) / rect.width, 0, 1), clamp((event.clientY - rect.top) / rect.height, 0, 1)];
  }

  press(event, pane) {
    if (event.button !== 0 || event.ctrlKey) return;
    const target = event.target.closest(".box");
    const handle = event.target.dataset.handle;
    const start = this.point(event, pane);
    const smallest = [SMALLEST / pane.image.naturalWidth, SMALLEST / pane.image.naturalHeight];
    event.preventDefault();
    document.activeElement?.blur?.();
    let number = target ? Number(target.dataset.number) : null;
    if (target) this.hooks.select(number);
    const before = target ? { ...this.boxOf(pane.side, number) } : null;
    const ghost = target ? null : make("div", { class: "box current ghost" });
    if (ghost) pane.layer.append(ghost);
    let box = before;
    this.viewer.held = true;
    const move = (moved) => {
      const [x, y] = this.point(moved, pane);
      if (ghost) {
        box = { x: Math.min(x, start[0]), y: Math.min(y, start[1]), w: Math.abs(x - start[0]), h: Math.abs(y - start[1]) };
        place(ghost, box);
      } else {
        box = handle ? stretched(before, handle, x, y, smallest) : shifted(before, x - start[0], y - start[1]);
        this.hooks.change(pane.side, number, box, false);
        const shown = pane.layer.querySelector(`[data-number="${number}"]`);
        if (shown) place(shown, box);
      }
    };
    const end = (last) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      this.viewer.held = false;
      ghost?.remove();
      if (ghost) {
        if (last.type === "pointerup" && box && box.w >= smallest[0] && box.h >= smallest[1]) this.hooks.create(pane.side, box);
        else this.hooks.select(null);
      } else if (box !== before) this.hooks.change(pane.side, number, box, true);
      const key = number === null ? null : `${pane.side}${number}`;
      if (key) pane.layer.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true });
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  boxOf(side, number) {
    return this.hooks.boxes().find((entry) => entry.side === side && entry.number === number).box;
  }

  // Arrows move by one picture pixel (Shift: ten), with Alt the right and bottom edges move instead.
  key(event, pane, side, number) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const step = event.shiftKey ? 10 : 1;
    const [dx, dy] = [(way[0] * step) / pane.image.naturalWidth, (way[1] * step) / pane.image.naturalHeight];
    const box = this.boxOf(side, number);
    const smallest = [1 / pane.image.naturalWidth, 1 / pane.image.naturalHeight];
    const next = event.altKey ? stretched(box, "se", box.x + box.w + dx, box.y + box.h + dy, smallest) : shifted(box, dx, dy);
    this.hooks.change(side, number, next, true);
  }
}

function shifted(box, dx, dy) {
  return { ...box, x: clamp(box.x + dx, 0, 1 - box.w), y: clamp(box.y + dy, 0, 1 - box.h) };
}

function stretched(box, handle, x, y, smallest) {
  let [left, top, right, bottom] = [box.x, box.y, box.x + box.w, box.y + box.h];
  if (handle.includes("w")) left = clamp(x, 0, right - smallest[0]);
  if (handle.includes("e")) right = clamp(x, left + smallest[0], 1);
  if (handle.includes("n")) top = clamp(y, 0, bottom - smallest[1]);
  if (handle.includes("s")) bottom = clamp(y, top + smallest[1], 1);
  return { x: left, y: top, w: right - left, h: bottom - top };
}

// The box as `read_box` of the package reads it: none with an edge more than OVERHANG outside the picture, else cut to it.
const OVERHANG = 0.02;
const ROUNDING = 1e-9; // sums such as 0.9 + 0.1 are not exact
function readBox(box) {
  if (!isBox(box)) return null;
  const { x, y, w, h } = box;
  const [right, bottom] = [x + w, y + h];
  const beyond = Math.max(-x, -y, right - 1, bottom - 1);
  if (beyond <= ROUNDING) return { x, y, w, h };
  if (beyond > OVERHANG + ROUNDING) return null;
  const [left, top] = [Math.max(x, 0), Math.max(y, 0)];
  const cut = { x: left, y: top, w: Math.min(right, 1) - left, h: Math.min(bottom, 1) - top };
  return isBox(cut) ? cut : null;
}

// Rounded to whole picture pixels, so that what is exported does not depend on the size of the window.
function snapped(box, image) {
  const [w, h] = [image.naturalWidth || 1e6, image.naturalHeight || 1e6];
  const [left, top] = [Math.round(box.x * w), Math.round(box.y * h)];
  const [right, bottom] = [Math.max(left + 1, Math.round((box.x + box.w) * w)), Math.max(top + 1, Math.round((box.y + box.h) * h))];
  return { x: left / w, y: top / h, w: (right - left) / w, h: (bottom - top) / h };
}
