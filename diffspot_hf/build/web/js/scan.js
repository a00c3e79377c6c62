// Asks the page once: which elements are there to be changed, what do they look like, what would a person call them?
(() => {
  const D = globalThis.__diffspot;
  const SKIP = "script,style,noscript,template,option,br,wbr,svg *,head,head *,iframe,object,embed,canvas,video,audio";
  const PROPERTIES = [
    "font-weight", "letter-spacing", "line-height", "opacity", "display", "justify-content", "flex-direction", "transform",
    "translate", "position", "text-transform", "direction", "border-top-left-radius", "border-top-right-radius",
    "border-bottom-right-radius", "border-bottom-left-radius", "overflow-x", "background-size", "text-decoration-line",
    ...["top", "right", "bottom", "left"].flatMap((s) => [
      `padding-${s}`, `margin-${s}`, `border-${s}-width`, `border-${s}-style`]),
  ];
  const COLOURS = ["color", "background-color", ...["top", "right", "bottom", "left"].map((s) => `border-${s}-color`)];

  D.selectorOf = (el) => {
    const parts = [];
    for (let at = el; at && at !== document.documentElement; at = at.parentElement) {
      if (at.id && document.querySelectorAll(`#${CSS.escape(at.id)}`).length === 1) {
        parts.unshift(`#${CSS.escape(at.id)}`);
        break;
      }
      if (at === document.body) {
        parts.unshift("body");
        break;
      }
      const alike = [...at.parentElement.children].filter((s) => s.localName === at.localName);
      const name = CSS.escape(at.localName);
      parts.unshift(alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(at) + 1})` : name);
    }
    return parts.join(" > ");
  };

  const visible = (el, cs) => {
    if (cs.visibility !== "visible" || cs.display === "none" || cs.display === "contents") return false;
    let opacity = 1;
    for (let at = el; at; at = at.parentElement) opacity *= +D.style(at).opacity;
    return opacity > 0.1;
  };
  // Another thing lies over it when most of five points hit neither it nor its content nor what it stands in.
  const uncovered = (el, r) => {
    let free = 0;
    for (const [fx, fy] of [[0.5, 0.5], [0.15, 0.25], [0.85, 0.25], [0.15, 0.75], [0.85, 0.75]]) {
      const hit = document.elementFromPoint(r.left + r.width * fx, r.top + r.height * fy);
      if (hit && (el.contains(hit) || hit.contains(el))) free++;
    }
    return free >= 3;
  };
  const { bordersOf, paintsBox } = D;
  const has = (el, pattern) => typeof el.className === "string" && pattern.test(el.className);
  const HINTS = [
    [/(^|[\s_-])(badge|chip|pill|tag|label-(default|primary|success|info|warning|danger))(\s|$|-)/i, "badge"],
    [/(^|[\s_-])avatar/i, "avatar"], [/(^|[\s_-])(alert|notice|callout)(\s|$|-)/i, "notice"],
    [/(^|[\s_-])progress(-bar)?(\s|$)/i, "progress bar"], [/(^|\s)breadcrumb(s)?(\s|$)/i, "breadcrumb"],
    [/(^|[\s_-])pagination(\s|$)/i, "pagination"], [/(^|\s)(navbar|topbar|nav-bar)(\s|$)/i, "navigation bar"],
    [/(^|[\s_-])(sidebar|sidenav|side-nav)(\s|$)/i, "sidebar"], [/(^|\s)(hero|banner|jumbotron|masthead)(\s|$)/i, "banner"],
    [/(^|[\s_-])(card|panel|tile|widget)(\s|$)/i, "card"],
  ];
  const TAGS = {
    p: "paragraph", li: "list item", td: "table cell", th: "column header", label: "form label", blockquote: "quotation",
    figcaption: "caption", caption: "caption", time: "date", nav: "navigation bar", header: "header", footer: "footer",
    aside: "sidebar", form: "form", table: "table", ul: "list", ol: "list", tr: "table row", textarea: "text area",
    select: "drop-down", img: "image", picture: "image", hr: "divider", dt: "term", progress: "progress bar", pre: "code block",
    section: "section", article: "article", main: "main area", figure: "figure", thead: "table header",
  };
  const kindAlone = (el, cs, r) => {
    const tag = el.localName, role = el.getAttribute("role") || "";
    if (/^h[1-6]$/.test(tag) || role === "heading") return "heading";
    if (tag === "input") {
      const type = el.type;
      if (/submit|button|reset/.test(type)) return "button";
      if (/checkbox|radio|range|color|file/.test(type)) return { checkbox: "checkbox", radio: "radio button", range: "slider",
        color: "colour field", file: "file field" }[type];
      return /search/i.test(`${type} ${el.placeholder} ${el.name}`) ? "search field" : "input field";
    }
    if (tag === "button" || role === "button") return "button";
    if (tag === "th" && !el.closest("thead") && el.scope !== "col") return ""; // mail pages lay out with such cells
    if (has(el, /(^|\s)btn(-(primary|secondary|default|lg|sm|success|outline))?(\s|$)/)) return "button";
    if (tag === "a") {
      const boxed = D.rgba(cs.backgroundColor)[3] > 0.5 || bordersOf(cs).length === 4;
      return boxed && parseFloat(cs.paddingLeft) >= 6 && r.height < 80 && cs.display !== "inline" ? "button" : "link";
    }
    if (tag === "svg") return Math.max(r.width, r.height) <= 64 ? "icon" : "image";
    if (D.isIconFont(cs) && !el.children.length) return "icon";
    if (tag === "img" && (has(el, /avatar|rounded-circle|img-circle/) || (parseFloat(cs.borderTopLeftRadius) * 2 >= r.width && r.width <= 160)))
      return "avatar";
    for (const [pattern, kind] of HINTS) if (has(el, pattern)) return kind;
    if (/^(table|tr|td|th|thead)$/.test(tag) && !holdsData(el)) return "";
    if (tag === "th" && !el.closest("thead") && el.scope !== "col") return "table cell";
    return TAGS[tag] || "";
  };
  const WORDED = /^(heading|button|link|list item|table cell|column header|form label|badge|caption|paragraph|quotation)$/;
  const HEADED = /^(card|section|article|form|box|group|row|figure|sidebar|banner|notice|table|main area|header|footer)$/;
  const SMALL = /^(icon|image|avatar|checkbox|radio button|slider|input field|text area|drop-down|progress bar)$/;
  // The words a person reads; the names that make an icon font draw its icons are none.
  const shownText = (el) => {
    let text = el.innerText ?? el.textContent ?? "";
    for (const at of el.querySelectorAll("i,span,svg"))
      if (at.localName !== "svg" && D.isIconFont(D.style(at)) && at.innerText) text = text.replace(at.innerText, " ");
    return D.words(text);
  };
  const labelOf = (el, kind) => {
    if (kind === "input field" || kind === "search field" || kind === "text area")
      return D.words(el.value || el.placeholder || el.getAttribute("aria-label") || el.labels?.[0]?.innerText || "");
    if (el.localName === "input" || el.localName === "select")
      return D.words(el.labels?.[0]?.innerText || el.value || el.getAttribute("aria-label") || "");
    if (kind === "icon" || kind === "image" || kind === "avatar")
      return D.words(el.getAttribute("alt") || el.getAttribute("aria-label") || el.querySelector?.("title")?.textContent || el.title || "");
    if (kind === "form") return shownText(el) || D.words(el.querySelector("[placeholder]")?.placeholder || "");
    return shownText(el);
  };
  // What an icon shows, as its class says it: fa-search, bi-gear-fill, mdi-account.
  const PICTURE = /(?:^|\s)(?:fa|bi|mdi|ti|fe|ni|icon|glyphicon|feather|lucide|bx|ri|la|nc-icon|simple-icon|dripicons)-([a-z][a-z-]{2,})(?=\s|$)/g;
  const NO_PICTURE = /^(fw|lg|sm|xs|spin|pulse|stack|inverse|solid|regular|light|brands|border|icon|icons|pull-.*|rotate-.*|flip-.*|size-.*)$/;
  const SHAPES = { bars: "menu", th: "grid", cog: "gear", times: "cross", ellipsis: "three dots", "ellipsis h": "three dots",
    "ellipsis v": "three dots", cogs: "gears", "th large": "grid" };
  const pictureOf = (el) => {
    for (const at of [el, ...el.querySelectorAll("i,span,svg")].slice(0, 4)) {
      const names = [...(at.getAttribute("class") || "").matchAll(PICTURE)].map((m) => m[1]).filter((n) => !NO_PICTURE.test(n));
      if (names.length) {
        const name = names[0].replace(/-(alt|fill|o|outline|line|f|square)$/, "").replace(/-/g, " ");
        return SHAPES[name] || name;
      }
    }
    return "";
  };
  const besideOf = (el) => {
    for (let at = el.parentElement, n = 0; at && n < 4; at = at.parentElement, n++) {
      const text = shownText(at);
      if (text) return text.length <= 80 ? text : "";
    }
    return "";
  };
  const headingIn = (el) => {
    const found = el.querySelector("h1,h2,h3,h4,h5,h6,legend,caption,[class*=card-title],[class*=panel-title],[class*=title]");
    return found && D.inView(found.getBoundingClientRect()) ? shownText(found) : "";
  };
  // What stands in another column, or below, is nobody's heading here.
  const standsOver = (found, el) => {
    const a = found.getBoundingClientRect(), b = el.getBoundingClientRect();
    return a.bottom <= b.top + 2 && a.left < b.right && a.right > b.left;
  };
  // The heading that the element stands under: the last one before it in the smallest surroundings that have any.
  const HEADINGS = "h1,h2,h3,h4,h5,h6,legend,caption,[class*=card-title],[class*=panel-title]";
  const headingAbove = (el) => {
    if (el.closest(HEADINGS)) return "";
    for (let at = el.parentElement, n = 0; at && at !== document.body && n < 8; at = at.parentElement, n++) {
      const before = [...at.querySelectorAll(HEADINGS)].filter(
        (h) => !h.contains(el) && h.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING && D.inView(h.getBoundingClientRect()));
      if (before.length) return shownText(before.at(-1));
    }
    return "";
  };
  // Tables that only arrange a page have no headers, no borders between rows, or tables inside.
  const holdsData = (el) => {
    const table = el.closest("table");
    if (!table || table.getAttribute("role") === "presentation" || table.querySelector("table")) return false;
    return !!table.querySelector("thead,th[scope],caption") || (table.rows.length > 1 && table.rows[0].cells.length > 1);
  };

  const nameOf = (el, cs, r, own) => {
    let kind = kindAlone(el, cs, r);
    const text = shownText(el);
    if (own && !WORDED.test(kind)) {
      // A span that is all of a button's or heading's text is that button's or heading's text.
      for (let at = el.parentElement; at && at !== document.body && shownText(at) === text; at = at.parentElement) {
        const outer = kindAlone(at, D.style(at), at.getBoundingClientRect());
        if (WORDED.test(outer)) {
          kind = outer;
          break;
        }
      }
    }
    const several = el.children.length > 1 && /flex|grid/.test(cs.display);
    if (several && (!kind || kind === "paragraph"))
      kind = paintsBox(el, cs) ? "box" : /flex/.test(cs.display) && /^row/.test(cs.flexDirection) ? "row" : "group";
    if (own && !kind) kind = paintsBox(el, cs) && text.length <= 40 ? "box" : text.length > 60 ? "paragraph" : "text";
    if (kind === "paragraph" && text.length <= 40) kind = "text";
    if (!kind) kind = el.children.length > 1 && !paintsBox(el, cs) ? "group" : "box";
    const label = labelOf(el, kind), picture = label ? "" : pictureOf(el);
    const heading = own || !HEADED.test(kind) ? "" : headingIn(el);
    const beside = label || picture || heading || !SMALL.test(kind) ? "" : besideOf(el);
    return { kind, label, picture, heading, beside, above: headingAbove(el) };
  };

  const normalLine = (cs) => {
    const pen = new OffscreenCanvas(1, 1).getContext("2d");
    pen.font = D.fontOf(cs);
    const m = pen.measureText("x");
    return (m.fontBoundingBoxAscent + m.fontBoundingBoxDescent) / parseFloat(cs.fontSize);
  };
  const linesOf = (nodes) => {
    const tops = [];
    for (const n of nodes) for (const r of D.lineRects(n)) if (!tops.some((t) => Math.abs(t - r.top) < r.height / 2)) tops.push(r.top);
    return tops.length;
  };
  const segmenter = new Intl.Segmenter(document.documentElement.lang || undefined, { granularity: "word" });
  const segments = (text) => [...segmenter.segment(text)].filter((s) => s.isWordLike).map((s) => [s.index, s.index + s.segment.length]);

  // What makes a target unfit whatever the operator: its letters are not there, or not in the font that was meant.
  const typeProblem = (el) => {
    for (const at of [el, ...[...el.querySelectorAll("*")].slice(0, 60)]) {
      const nodes = D.ownNodes(at, true);
      if (!nodes.length) continue;
      const cs = D.style(at);
      if (D.fontProblem(cs)) return "font failed";
      if (nodes.some((n) => D.missingGlyphs(cs, n.data))) return "missing glyph";
    }
    return "";
  };

  // The colour that an element stands on; null where that is a picture, a gradient or nothing certain.
  const behind = (el) => {
    for (let at = el.parentElement; at; at = at.parentElement) {
      const cs = D.style(at);
      if (cs.backgroundImage !== "none") return null;
      if (D.rgba(cs.backgroundColor)[3] > 0.95) return D.rgba(cs.backgroundColor);
    }
    return [255, 255, 255, 1];
  };

  const factsOf = (el, cs, r, i) => {
    const cut = D.clips(cs) && (el.scrollWidth > el.clientWidth + 1 || el.scrollHeight > el.clientHeight + 1);
    const texts = D.isIconFont(cs) || cut ? [] : D.ownNodes(el).filter((n) => {
      const whole = D.rectOf(n), seen = D.visibleRect(n);
      return whole.width > 0 && seen.width >= whole.width - 1 && seen.height >= whole.height - 1;
    });
    const own = D.words(texts.map((n) => n.data).join(" "));
    const computed = {};
    for (const p of PROPERTIES) computed[p] = cs.getPropertyValue(p);
    const rgba = {};
    for (const p of COLOURS) rgba[p] = D.rgba(cs.getPropertyValue(p));
    const kids = [...el.children].filter((c) => D.inView(c.getBoundingClientRect()));
    return {
      i, selector: D.selectorOf(el), tag: el.localName, classes: [...el.classList], computed, rgba,
      rect: [r.left, r.top, r.width, r.height], own,
      nodes: texts.map((n) => ({ at: [...el.childNodes].indexOf(n), raw: n.data, words: segments(n.data) })),
      lines: linesOf(texts), fontSize: parseFloat(cs.fontSize), normalLine: normalLine(cs),
      kids: kids.length, text: !!shownText(el), box: paintsBox(el, cs), borders: bordersOf(cs),
      gradient: /gradient\(/.test(cs.backgroundImage) ? D.plainColours(cs.backgroundImage) : "",
      around: behind(el), name: nameOf(el, cs, r, own),
    };
  };

  // Elements that can be targets: painted, wholly in the viewport, not covered, at least 8 px and at most half the screen.
  D.scan = () => {
    D.elements = [];
    const facts = [], named = new Map(), unfit = {};
    for (const el of document.body.querySelectorAll("*")) {
      if (el.matches(SKIP)) continue;
      const r = el.getBoundingClientRect();
      if (r.width < 8 || r.height < 8 || !D.inView(r)) continue;
      const cs = D.style(el);
      if (!visible(el, cs)) continue;
      const cut = D.visibleRect(el);
      if (cut.width < r.width - 1 || cut.height < r.height - 1) continue;
      if (!D.whollyInView(r) || r.width * r.height > (D.width * D.height) / 2 || !uncovered(el, r)) continue;
      const selector = D.selectorOf(el);
      if (document.querySelectorAll(selector).length !== 1) continue;
      const problem = typeProblem(el);
      if (problem) {
        unfit[problem] = (unfit[problem] || 0) + 1;
        continue;
      }
      D.elements.push(el);
      const f = factsOf(el, cs, r, D.elements.length - 1);
      // The same words in the same role twice: a person would count them.
      const { kind, label, picture, heading, beside } = f.name;
      const key = [kind, label, picture, heading, beside].join("|");
      if (!named.has(key)) named.set(key, []);
      const alike = named.get(key);
      if (!alike.length || !D.elements[alike.at(-1).i].contains(el)) alike.push(f);
      else f.inside = alike.at(-1).i;
      facts.push(f);
    }
    // One of several alike is told by the heading it stands under where that is its own, else by counting.
    for (const alike of named.values()) {
      alike.sort((a, b) => Math.abs(a.rect[1] - b.rect[1]) > 4 ? a.rect[1] - b.rect[1] : a.rect[0] - b.rect[0]);
      const under = alike.map((f) => f.name.above);
      alike.forEach((f, n) => {
        const { label, picture, heading, beside, above } = f.name;
        const alone = alike.length === 1, own = above && under.indexOf(above) === under.lastIndexOf(above);
        Object.assign(f.name, alone || own ? { nth: 1, of: 1 } : { nth: n + 1, of: alike.length });
        if (alone ? label || picture || heading || beside : !own) f.name.above = "";
      });
    }
    for (const f of facts) if (f.inside !== undefined) {
      const { nth, of, above } = facts.find((g) => g.i === f.inside).name;
      Object.assign(f.name, { nth, of, above });
    }
    return { facts, unfit };
  };

  // What decides whether the page is used at all, and the words that its own texts are made of.
  D.page = () => {
    const moving = {};
    for (const el of document.querySelectorAll("canvas,video,iframe,object,embed")) {
      const cs = D.style(el);
      if (D.inView(el.getBoundingClientRect()) && cs.visibility === "visible" && cs.display !== "none")
        moving[el.localName] = (moving[el.localName] || 0) + 1;
    }
    const words = new Set(), labels = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && words.size < 800) {
      const node = walker.currentNode, parent = node.parentElement;
      if (!parent || parent.matches("script,style,noscript,template") || D.isIconFont(D.style(parent))) continue;
      if (!D.words(node.data) || !D.inView(D.rectOf(node))) continue;
      for (const [a, b] of segments(node.data)) words.add(node.data.slice(a, b));
      if (labels.size < 300) labels.add(node.data.replace(/\s+/g, " ").trim());
    }
    const sheets = [...document.styleSheets].map((s) => { try { return [...s.cssRules].map((r) => r.cssText).join("\n"); } catch { return ""; } });
    return {
      moving, words: [...words], labels: [...labels], elements: document.querySelectorAll("*").length,
      tailwind: sheets.some((css) => css.includes("--tw-")), lang: document.documentElement.lang || "",
    };
  };
})();
