// What a script finds beside the language: a console, timers, and no packages. The host takes what begins with `__`.
"use strict";
(() => {
  const print = globalThis.__print;
  delete globalThis.__print;
  const text = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return value.stack ? `${value}\n${value.stack}` : String(value);
    try {
      const json = JSON.stringify(value);
      return json === undefined ? String(value) : json;
    } catch {
      return String(value);
    }
  };
  const line = (...parts) => print(parts.map(text).join(" ") + "\n");
  globalThis.console = { log: line, info: line, debug: line, warn: line, error: line };

  const timers = [];
  let now = 0;
  let count = 0;
  globalThis.setTimeout = (call, delay, ...given) => {
    const due = now + Math.max(Number(delay) || 0, 0);
    timers.push({ id: ++count, due, call: () => call(...given) });
    timers.sort((a, b) => a.due - b.due || a.id - b.id);
    return count;
  };
  globalThis.clearTimeout = (id) => {
    const at = timers.findIndex((timer) => timer.id === id);
    if (at >= 0) timers.splice(at, 1);
  };
  // How long until the next timer, in milliseconds; -1 if there is none.
  globalThis.__next = () => (timers.length ? Math.max(timers[0].due - now, 0) : -1);
  globalThis.__fire = () => {
    const timer = timers.shift();
    now = timer.due;
    timer.call();
  };
  globalThis.__require = (name) => {
    throw new Error(`there is no "${name}": scripts run without packages, files and network`);
  };
})();
