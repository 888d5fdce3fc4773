"use strict";
// Before anything is drawn: the theme that was chosen in this browser, else that of the system.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* storage may be forbidden; the theme of the system holds */ }
