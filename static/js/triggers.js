/* What the pages of triggers do better with JavaScript: a switch that moves at once and moves back when the call fails,
   seconds that count down, and news that is spoken once. All of it works without. */
(() => {
  "use strict";
  const toggled = (event) => event.detail.ctx?.sourceElement?.closest?.("[data-toggle]");
  const flip = (form) => {
    const button = form.querySelector("[role=switch]");
    button.setAttribute("aria-checked", String(button.getAttribute("aria-checked") !== "true"));
  };

  document.addEventListener("htmx:before:request", (event) => {
    const form = toggled(event);
    if (form && !form.dataset.moved) {
      form.dataset.moved = "yes";
      flip(form);
    }
  });
  /* A form that still stands was not answered with a new one: the call failed. */
  document.addEventListener("htmx:finally:request", (event) => {
    const form = toggled(event);
    if (form?.isConnected && form.dataset.moved) {
      delete form.dataset.moved;
      flip(form);
    }
  });

  /* "in 4 s", "in 3 min 20 s", as the page words it; past an hour the words of the server are good enough. */
  function left(ms) {
    const words = document.getElementById("countdown")?.dataset,
      seconds = Math.ceil(ms / 1000);
    if (!words || seconds >= 3600) return "";
    if (seconds <= 0) return words.now;
    if (seconds < 60) return window.patchbay.fill(words.seconds, { seconds });
    return window.patchbay.fill(words.minutes, { minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
  }
  function count() {
    if (document.hidden) return;
    document.querySelectorAll("time[data-countdown]").forEach((time) => {
      const text = left(Date.parse(time.dateTime) - Date.now());
      if (text && text !== time.textContent) time.textContent = text;
    });
  }
  setInterval(count, 1000);
  document.addEventListener("htmx:after:swap", () => {
    count();
    const pill = document.querySelector("[data-news]");
    if (pill && !count.told) {
      count.told = true;
      window.patchbay.announce(pill.dataset.news);
    }
  });
  count();
})();
