// What the scan and the mutations share. Runs in a page whose own scripts are blocked; everything hangs on one global.
(() => {
  const D = (globalThis.__diffspot = {});
  D.width = innerWidth;
  D.height = innerHeight;

  // Motion stops, and hit tests see what pointer-events would hide. Neither changes a still page's pixels.
  const still = new CSSStyleSheet();
  // In a layer: there an !important wins over every one outside of layers, however specific.
  still.replaceSync(
    "@layer diffspot-still{*,*::before,*::after{animation:none!important;transition:none!important;" +
      "caret-color:transparent!important;scroll-behavior:auto!important;pointer-events:auto!important}}",
  );
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, still];
  for (const svg of document.querySelectorAll("svg")) {
    svg.pauseAnimations?.();
    svg.setCurrentTime?.(0);
  }
  for (const marquee of document.querySelectorAll("marquee")) marquee.stop?.();
  document.activeElement?.blur?.();

  D.style = (el) => getComputedStyle(el);

  const range = document.createRange();
  // selectNode, not selectNodeContents: the latter collapses when the text is replaced.
  D.rectOf = (node) => {
    if (node.nodeType === 1) return node.getBoundingClientRect();
    range.selectNode(node);
    return range.getBoundingClientRect();
  };
  D.lineRects = (node) => {
    range.selectNode(node);
    return [...range.getClientRects()].filter((r) => r.width > 0 && r.height > 0);
  };

  D.inView = (r) => r.right > 0 && r.bottom > 0 && r.left < D.width && r.top < D.height && r.width > 0 && r.height > 0;
  D.whollyInView = (r) => r.left >= 0 && r.top >= 0 && r.right <= D.width && r.bottom <= D.height;
  D.cut = (r, by) => {
    const left = Math.max(r.left, by.left), top = Math.max(r.top, by.top);
    const right = Math.max(left, Math.min(r.right, by.right)), bottom = Math.max(top, Math.min(r.bottom, by.bottom));
    return { left, top, right, bottom, width: right - left, height: bottom - top };
  };
  D.join = (a, b) => ({
    left: Math.min(a.left, b.left), top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right), bottom: Math.max(a.bottom, b.bottom),
  });

  D.clips = (cs) => cs.overflowX !== "visible" || cs.overflowY !== "visible";
  // Elements whose edges cut what is painted of `node`.
  D.clippers = (node) => {
    const found = [];
    for (let el = node.parentElement; el && el !== document.body; el = el.parentElement)
      if (D.clips(D.style(el))) found.push(el);
    return found;
  };
  D.visibleRect = (node, clippers) => {
    let r = D.cut(D.rectOf(node), { left: 0, top: 0, right: D.width, bottom: D.height });
    for (const el of clippers ?? D.clippers(node)) r = D.cut(r, el.getBoundingClientRect());
    return r;
  };

  // Any CSS colour as [red, green, blue, alpha], whatever its notation (Tailwind 4 computes to oklch).
  const dot = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const colours = new Map();
  D.rgba = (css) => {
    if (!colours.has(css)) {
      const plain = css.match(/^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/);
      if (plain) colours.set(css, [+plain[1], +plain[2], +plain[3], plain[4] === undefined ? 1 : +plain[4]]);
      else {
        // Drawn opaque, so that a low alpha does not coarsen the channels.
        const alpha = css.match(/\/\s*([\d.]+)(%?)\s*\)$/);
        dot.clearRect(0, 0, 1, 1);
        dot.fillStyle = "#000";
        dot.fillStyle = alpha ? css.replace(/\s*\/[^)]*\)$/, ")") : css;
        dot.fillRect(0, 0, 1, 1);
        const [r, g, b] = dot.getImageData(0, 0, 1, 1).data;
        colours.set(css, [r, g, b, alpha ? +alpha[1] / (alpha[2] ? 100 : 1) : css === "transparent" ? 0 : 1]);
      }
    }
    return colours.get(css);
  };
  D.plainColours = (value) =>
    value.replace(/\b(?:rgba?|hsla?|hwb|oklch|oklab|lch|lab|color)\([^()]*\)/g, (c) => {
      const [r, g, b, a] = D.rgba(c);
      return `rgba(${r}, ${g}, ${b}, ${a})`;
    });

  D.bordersOf = (cs) =>
    ["top", "right", "bottom", "left"].filter(
      (s) => parseFloat(cs[`border-${s}-width`]) > 0 && !/none|hidden/.test(cs[`border-${s}-style`]) &&
        D.rgba(cs[`border-${s}-color`])[3] > 0.05);
  const REPLACED = /^(img|svg|input|button|select|textarea|progress|meter)$/;
  D.paintsBox = (el, cs) =>
    D.rgba(cs.backgroundColor)[3] > 0.02 || cs.backgroundImage !== "none" || D.bordersOf(cs).length > 0 ||
    cs.boxShadow !== "none" || REPLACED.test(el.localName);

  // Text as a person sees it: icon glyphs are no words, white space is one blank.
  D.words = (text) => text.replace(/[\p{Co}\u200b\u200c\u00ad\ufeff]/gu, "").replace(/\s+/g, " ").trim();
  D.ownNodes = (el, glyphs) => [...el.childNodes].filter((n) => n.nodeType === 3 && (glyphs ? n.data.trim() : D.words(n.data)));

  // Does the font family exist at all? An icon font that was not loaded shows its ligature names as words.
  const pen = new OffscreenCanvas(1, 1).getContext("2d");
  const present = new Map();
  D.familyThere = (family) => {
    if (!present.has(family)) {
      const width = (stack) => ((pen.font = `48px ${stack}`), pen.measureText("dashboard menu").width);
      present.set(family, ["serif", "monospace"].some((base) => width(`${family}, ${base}`) !== width(base)));
    }
    return present.get(family);
  };
  const failed = new Set([...document.fonts].filter((f) => f.status === "error").map((f) => f.family.replace(/["']/g, "")));
  D.fontProblem = (cs) => {
    const first = cs.fontFamily.split(",")[0].trim();
    if (failed.has(first.replace(/["']/g, ""))) return true;
    return /icon|symbol|awesome|glyph/i.test(first) && !D.familyThere(first);
  };
  D.isIconFont = (cs) => /icon|symbol|awesome|glyph/i.test(cs.fontFamily.split(",")[0]);

  D.fontOf = (cs, weight = cs.fontWeight, size = cs.fontSize) => `${cs.fontStyle} ${weight} ${size} ${cs.fontFamily}`;
  const board = new OffscreenCanvas(600, 48).getContext("2d", { willReadFrequently: true });
  D.inked = (font, text) => {
    board.clearRect(0, 0, 600, 48);
    board.font = font;
    board.fillText(text, 4, 34);
    return board.getImageData(0, 0, 600, 48).data;
  };
  const same = (a, b) => {
    for (let i = 3; i < a.length; i += 4) if (a[i] !== b[i]) return false;
    return true;
  };
  D.rendersDifferently = (cs, text, weight) => {
    pen.font = D.fontOf(cs);
    const before = pen.measureText(text).width;
    pen.font = D.fontOf(cs, weight);
    if (pen.measureText(text).width !== before) return true;
    return !same(D.inked(D.fontOf(cs, cs.fontWeight, "24px"), text), D.inked(D.fontOf(cs, weight, "24px"), text));
  };
  const glyphs = new Map();
  // True when a character of `text` has no glyph and shows as the font's empty box.
  D.missingGlyphs = (cs, text) => {
    const font = D.fontOf(cs, "400", "24px");
    const box = () => {
      const key = `${font}|box`;
      if (!glyphs.has(key)) glyphs.set(key, D.inked(font, "\u{10FFFD}"));
      return glyphs.get(key);
    };
    for (const c of new Set(text.replace(/[\s\p{M}\p{Cf}]/gu, ""))) {
      if (c.codePointAt(0) < 0x250) continue; // every font of a working system has basic Latin
      const key = `${font}|${c}`;
      if (!glyphs.has(key)) glyphs.set(key, same(D.inked(font, c), box()));
      if (glyphs.get(key)) return true;
    }
    return false;
  };
})();
