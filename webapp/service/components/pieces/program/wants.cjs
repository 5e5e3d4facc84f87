// What a part of a piece wants that is not here, as far as the text of its functions shows it.
"use strict";

const SIGNS = {
  flows: /\bflows\s*\.\s*list\b/,
  waitpoints: /\b(createWaitpoint|waitForWaitpoint|generateResumeUrl)\b/,
  pause: /\bpauseMetadata\b|\brun\s*\.\s*pause\b/,
  agent: /\bagent\s*\.\s*tools\b/,
  tags: /\btags\s*\.\s*add\b/,
};

/** The names of what `functions` want and do not get. */
function wants(...functions) {
  const text = functions.filter((each) => typeof each === "function").join("\n");
  return Object.keys(SIGNS).filter((name) => SIGNS[name].test(text));
}

module.exports = { wants };
