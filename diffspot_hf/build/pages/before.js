// Runs before any script of the page: chance gets a fixed seed, shadow trees can be read, drawings can be copied,
// the page cannot close itself or talk past the request filter. The clock is Playwright's; it would never get past a
// timer that asks to be called again at once, so a timer waits for at least what browsers make nested ones wait.
(() => {
  let state = 0x2f6e2b1;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  Math.random = next;
  crypto.getRandomValues = (array) => {
    for (let i = 0; i < array.length; i++) array[i] = Math.floor(next() * 4294967296);
    return array;
  };
  for (const name of ["setTimeout", "setInterval"]) {
    const set = window[name];
    window[name] = (callback, delay, ...rest) => set.call(window, callback, Math.max(4, Number(delay) || 0), ...rest);
  }
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    return attach.call(this, { ...options, mode: "open" });
  };
  const context = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    return context.call(this, kind, String(kind).startsWith("webgl") ? { ...options, preserveDrawingBuffer: true } : options);
  };
  window.close = () => {};
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "SharedWorker"]) delete window[name];
})();
