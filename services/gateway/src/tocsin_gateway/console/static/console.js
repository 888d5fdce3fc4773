"use strict";
// What the pages do besides: they bring what is new, count down, and take keys. Nothing moves under
// a pointer, a cursor or an open question: then a pill says how much is new, and waits.
(() => {
  const { body, documentElement: root } = document;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const skew = Date.parse(body.dataset.now) - Date.now();
  root.classList.add("scripted");
  // An answer to a form is a page of its run: to read it again asks for that, and sends nothing twice.
  if (body.dataset.here && body.dataset.here !== location.pathname) history.replaceState(null, "", body.dataset.here);

  // ---- Times that run out.
  const span = (ms) => {
    const s = Math.max(0, Math.floor(ms / 1000));
    const d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
    if (d) return h ? `${d} d ${h} h` : `${d} d`;
    if (h) return m ? `${h} h ${m} min` : `${h} h`;
    return m ? `${m} min ${s % 60} s` : `${s} s`;
  };
  const count = () => {
    for (const time of all("time[data-until]")) {
      const left = Date.parse(time.dateTime) - Date.now() - skew;
      time.textContent = left > 0 ? `in ${span(left)}` : "over";
      time.classList.toggle("bad", left < 600000);
    }
  };
  count();
  setInterval(count, 1000);

  // ---- Light and dark.
  const dark = () => getComputedStyle(root).colorScheme === "dark"
    || (root.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const themes = one("[data-theme-button]");
  const pressed = () => themes.setAttribute("aria-pressed", String(dark()));
  themes.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* for this page only */ }
    pressed();
  });
  pressed();

  // ---- Questions: a dialog where there is one, else the part of the page that asks.
  const ask = (from) => {
    const dialog = document.getElementById(from?.dataset.ask || "");
    if (!dialog) return false;
    dialog.showModal();
    return true;
  };
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
    const link = event.target.closest("[data-ask]");
    if (link && !event.metaKey && !event.ctrlKey && ask(link)) event.preventDefault();
  });
  one("[data-help-button]")?.addEventListener("click", () => one("#help").showModal());

  // ---- Rows.
  const links = () => all("[data-row] a[data-open]");
  const move = (step) => {
    const found = links(), at = found.findIndex((link) => link === document.activeElement);
    const next = at < 0 ? (step > 0 ? 0 : found.length - 1) : at + step;
    found[Math.min(Math.max(next, 0), found.length - 1)]?.focus();
  };
  const row = () => document.activeElement?.closest("[data-row]");

  // ---- What is new.
  const pill = one("[data-pill]");
  let waiting = 0, asked = 0, paused = false, over = false;
  const regions = () => all("[data-live]");
  const held = () => paused || over || one("dialog[open]")
    || regions().some((region) => region.contains(document.activeElement)
      && document.activeElement.matches("input, textarea, select"))
    || all("[data-live] input:not([type=hidden])").some((field) => field.value !== field.defaultValue);
  const tell = () => {
    if (!pill) return;
    pill.hidden = !waiting;
    if (waiting) pill.querySelector("button").textContent = `${waiting} new`;
  };
  const swap = (fresh) => {
    const focus = document.activeElement, key = focus?.id || focus?.getAttribute("href");
    const open = all("[data-live] details[open][id]").map((details) => details.id);
    for (const region of regions()) {
      const next = fresh.getElementById(region.id);
      if (next) region.replaceWith(document.adoptNode(next));
    }
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (key && !focus.isConnected) {
      const again = document.getElementById(key)
        || all("[data-live] a[href]").find((link) => link.getAttribute("href") === key);
      again?.focus({ preventScroll: true });
    }
    document.title = fresh.title;
    count();
  };
  const link = (words, tone) => {
    const said = one("[data-link]");
    said.className = `link script ${tone}`;
    said.textContent = words;
  };
  const refresh = async () => {
    asked = 0;
    const had = waiting;
    try {
      const answer = await fetch(location.pathname + location.search, { redirect: "error" });
      if (!answer.ok) throw new Error(String(answer.status));
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      swap(fresh);
      waiting -= had;
    } catch {
      link("▲ This page could not be read again: reload it", "bad");
    }
    tell();
  };
  const soon = () => {
    if (!waiting || held()) tell();
    else if (!asked) asked = setTimeout(() => (held() ? ((asked = 0), tell()) : refresh()), 400);
  };
  if (body.dataset.events && window.EventSource) {
    const topics = (body.dataset.topics || "").split(" ");
    const told = new EventSource(body.dataset.events);
    told.onopen = () => link("● Live", "good");
    told.onerror = () => link("▲ Not live: the connection is lost, trying again", "warn");
    told.onmessage = (message) => {
      const { topic } = JSON.parse(message.data);
      if (!topics.some((start) => topic.startsWith(start))) return;
      waiting += 1;
      soon();
    };
    document.addEventListener("pointermove", (event) => {
      over = Boolean(event.target.closest?.("[data-live]"));
      if (!over) soon();
    }, { passive: true });
    document.addEventListener("pointerleave", () => { over = false; soon(); });
    document.addEventListener("close", soon, true);
    document.addEventListener("focusout", () => setTimeout(soon));
    pill?.addEventListener("click", refresh);
  }
  const pause = one("[data-pause]");
  pause?.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Resume" : "Pause";
    soon();
  });

  // ---- Keys.
  let going = 0;
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    f: () => one("[data-filter]")?.focus(),
    p: () => one("[data-problems]")?.click(),
    r: () => waiting && refresh(),
    a: () => ask(row()?.querySelector("[data-ask]") || one("[data-ask]")),
    "/": () => { const field = one("[type=search]"); if (field) field.focus(); else location.href = "/runs#q"; },
    "?": () => one("#help")?.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea, select");
    if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
    if (typing) { if (event.key === "Escape") event.target.blur(); return; }
    const page = going && Date.now() - going < 1500 && one(`[data-go="${CSS.escape(event.key)}"]`);
    going = event.key === "g" ? Date.now() : 0;
    if (page) page.click();
    else if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
})();
