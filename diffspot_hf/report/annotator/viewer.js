// The pair: side by side, one over the other with a divider, or blinking; zoomed and scrolled together.

const SIDES = ["a", "b"];

class Viewer {
  constructor(names, views) {
    this.views = views;
    this.view = "side";
    this.zoom = 1;
    this.swipe = 0.5;
    this.shown = 0;
    this.blinking = 0;
    this.held = false; // no blinking while something is dragged
    this.panes = SIDES.map((side, i) => {
      const image = make("img", { alt: names[i], draggable: "false", decoding: "async" });
      const layer = make("div", { class: "layer" });
      const sheet = make("div", { class: "sheet", "data-side": side }, image, layer);
      const scroll = make("div", { class: "scroll", tabindex: "0", "aria-label": `${names[i]}, scrollable` }, sheet);
      const caption = make("div", { class: "caption" }, names[i]);
      image.addEventListener("load", () => this.fit());
      image.addEventListener("error", () => caption.classList.add("broken"));
      scroll.addEventListener("scroll", () => this.follow(i), { passive: true });
      scroll.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      return { side, image, layer, sheet, scroll, caption, element: make("figure", { class: "pane", "data-side": side }, caption, scroll) };
    });
    this.divider = make("input", {
      type: "range", class: "divider", min: "0", max: "1000", value: "500", "aria-label": "How much of the second picture is shown",
      oninput: () => this.setSwipe(this.divider.valueAsNumber / 1000),
    });
    this.element = make("div", { class: "viewer side" }, this.panes.map((pane) => pane.element), this.divider);
    addEventListener("resize", () => this.fit());
  }

  show(row) {
    this.panes.forEach((pane, i) => {
      pane.caption.classList.remove("broken");
      if (pane.image.getAttribute("src") !== row.pictures[i]) pane.image.src = row.pictures[i];
    });
    this.fit();
  }

  get ready() {
    return this.panes.every((pane) => pane.image.complete && pane.image.naturalWidth > 0);
  }

  // Both sheets get the width at which the larger picture fits its pane, times the zoom.
  fit() {
    const images = this.panes.map((pane) => pane.image).filter((image) => image.naturalWidth);
    if (!images.length) return;
    const room = this.panes[0].scroll.getBoundingClientRect();
    const ratio = Math.max(...images.map((image) => image.naturalHeight / image.naturalWidth));
    const width = Math.max(40, Math.min(room.width - 4, (room.height - 4) / ratio)) * this.zoom;
    for (const pane of this.panes) pane.sheet.style.width = `${width}px`;
    const shown = `${Math.round((100 * width) / images[0].naturalWidth)} %`;
    if (app.zoomLabel) app.zoomLabel.textContent = shown;
  }

  setZoom(zoom, at = null) {
    const scroll = this.panes[0].scroll;
    const point = at || [scroll.clientWidth / 2, scroll.clientHeight / 2];
    const before = this.zoom;
    this.zoom = clamp(zoom, 1, 16);
    const [x, y] = [scroll.scrollLeft + point[0], scroll.scrollTop + point[1]];
    this.fit();
    const factor = this.zoom / before;
    scroll.scrollTo(x * factor - point[0], y * factor - point[1]);
    this.follow(0);
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const room = event.currentTarget.getBoundingClientRect();
    this.setZoom(this.zoom * Math.exp(-event.deltaY / 300), [event.clientX - room.left, event.clientY - room.top]);
  }

  follow(i) {
    const [from, to] = [this.panes[i].scroll, this.panes[1 - i].scroll];
    if (Math.abs(to.scrollLeft - from.scrollLeft) > 1) to.scrollLeft = from.scrollLeft;
    if (Math.abs(to.scrollTop - from.scrollTop) > 1) to.scrollTop = from.scrollTop;
  }

  setView(view) {
    if (!this.views.includes(view)) return;
    this.view = view;
    clearInterval(this.blinking);
    this.element.className = `viewer ${view}`;
    if (view === "blink") {
      const pause = matchMedia("(prefers-reduced-motion: reduce)").matches;
      if (!pause) this.blinking = setInterval(() => this.held || this.flip(), 700);
      this.flip(0);
    }
    this.setSwipe(this.swipe);
    this.fit();
  }

  // Blink view: the other side, or side `to`.
  flip(to = 1 - this.shown) {
    this.shown = to;
    this.element.dataset.shown = SIDES[to];
  }

  setSwipe(share) {
    this.swipe = clamp(share, 0, 1);
    this.divider.value = Math.round(this.swipe * 1000);
    this.element.style.setProperty("--swipe", `${(this.swipe * 100).toFixed(1)}%`);
  }

  // Boxes to look at, not to edit: [{box, side, kind, label}], fractions of the picture.
  mark(boxes) {
    for (const pane of this.panes) pane.layer.replaceChildren();
    for (const { box, side, kind, label } of boxes) {
      if (!isBox(box)) continue;
      const mark = make("div", { class: `mark ${kind || ""}` }, label ? make("span", { class: "tagline" }, label) : null);
      place(mark, box);
      this.panes[SIDES.indexOf(side)].layer.append(mark);
    }
  }
}

function place(element, box) {
  element.style.left = `${box.x * 100}%`;
  element.style.top = `${box.y * 100}%`;
  element.style.width = `${box.w * 100}%`;
  element.style.height = `${box.h * 100}%`;
}
