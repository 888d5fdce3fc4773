"use strict";
// What the pages do besides: they say what is new, and count down. Nothing moves by itself.
(() => {
  const body = document.body;
  const skew = Date.parse(body.dataset.now) - Date.now();

  const span = (ms) => {
    const s = Math.max(0, Math.floor(ms / 1000));
    const d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
    if (d) return `${d} d ${h} h`;
    if (h) return `${h} h ${m} min`;
    return m ? `${m} min ${s % 60} s` : `${s} s`;
  };

  const due = [...document.querySelectorAll("time[data-until]")];
  const count = () => {
    for (const time of due) {
      const left = Date.parse(time.dateTime) - Date.now() - skew;
      time.textContent = left > 0 ? `in ${span(left)}` : "over";
      time.classList.toggle("bad", left < 600000);
    }
  };
  if (due.length) { count(); setInterval(count, 1000); }

  const news = document.querySelector(".news");
  if (!body.dataset.events || !news || !window.EventSource) return;
  const topics = (body.dataset.topics || "").split(" ");
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  let found = 0;
  const told = new EventSource(body.dataset.events);
  told.onmessage = (message) => {
    const { topic } = JSON.parse(message.data);
    if (!topics.some((start) => topic.startsWith(start))) return;
    found += 1;
    link.textContent = `${found} new: reload`;
    news.replaceChildren(link);
    news.hidden = false;
  };
})();
