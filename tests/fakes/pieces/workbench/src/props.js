"use strict";
const { Property } = require("@activepieces/pieces-framework");
const { ask } = require("./provider");

const COLOURS = [
  { label: "Red", value: "red" },
  { label: "Green", value: "green" },
];

/** The tables of the account, found by their name. */
const table = Property.Dropdown({
  displayName: "Table",
  required: true,
  refreshers: [],
  refreshOnSearch: true,
  options: async ({ auth }, { searchValue }) => {
    if (!auth) return { disabled: true, placeholder: "Connect your account first.", options: [] };
    const tables = await ask(auth, "GET", `/tables?q=${encodeURIComponent(searchValue ?? "")}`);
    return { options: tables.map(({ id, name }) => ({ label: name, value: id })) };
  },
});

/** The columns of the table that is chosen, as fields of their own kinds. */
const cells = Property.DynamicProperties({
  displayName: "Cells",
  required: true,
  refreshers: ["table"],
  props: async ({ auth, table: chosen }) => {
    if (!chosen) return {};
    const columns = await ask(auth, "GET", `/tables/${chosen}/columns`);
    return Object.fromEntries(columns.map((column) => [column.id, cell(column, chosen)]));
  },
});

function cell({ name, kind, required }, chosen) {
  const common = { displayName: name, required: Boolean(required) };
  if (kind === "number") return Property.Number(common);
  if (kind === "tick") return Property.Checkbox(common);
  if (kind === "colour") return Property.StaticDropdown({ ...common, options: { options: COLOURS } });
  if (kind === "list") return Property.Array(common);
  if (kind === "person") return person(common, chosen);
  return Property.ShortText(common);
}

/** A field with options of its own. */
function person(common, chosen) {
  return Property.Dropdown({
    ...common,
    refreshers: ["urgent"],
    refreshOnSearch: true,
    options: async ({ auth, urgent }, { searchValue }) => {
      const query = new URLSearchParams({ q: searchValue ?? "", ...(urgent ? { urgent: "yes" } : {}) });
      const people = await ask(auth, "GET", `/tables/${chosen}/people?${query}`);
      return { options: people.map((each) => ({ label: each.name, value: each })) };
    },
  });
}

/** All kinds of input. */
exports.every = {
  short: Property.ShortText({ displayName: "Short", description: "A **short** text.", required: true }),
  long: Property.LongText({ displayName: "Long", required: false }),
  hint: Property.MarkDown({ value: "Read the [manual](https://workbench.example/manual) first.", variant: "INFO" }),
  number: Property.Number({ displayName: "Number", required: false, defaultValue: 1.5 }),
  tick: Property.Checkbox({ displayName: "Tick", required: false, defaultValue: false }),
  day: Property.DateTime({ displayName: "Day", required: false }),
  colour: Property.Color({ displayName: "Colour", required: false }),
  one: Property.StaticDropdown({ displayName: "One", required: false, options: { options: COLOURS } }),
  several: Property.StaticMultiSelectDropdown({
    displayName: "Several",
    required: false,
    options: { options: COLOURS },
  }),
  table,
  views: Property.MultiSelectDropdown({
    displayName: "Views",
    required: false,
    refreshers: ["table"],
    options: async ({ auth, table: chosen }) => ({
      options: chosen
        ? (await ask(auth, "GET", `/tables/${chosen}/views`)).map((view) => ({ label: view.name, value: view }))
        : [],
    }),
  }),
  cells,
  words: Property.Array({ displayName: "Words", required: false }),
  rows: Property.Array({
    displayName: "Rows",
    required: false,
    properties: {
      key: Property.ShortText({ displayName: "Key", required: true }),
      count: Property.Number({ displayName: "Count", required: false }),
    },
  }),
  object: Property.Object({ displayName: "Object", required: false }),
  json: Property.Json({ displayName: "JSON", required: false }),
  file: Property.File({ displayName: "File", required: false }),
  shape: Property.Custom({
    displayName: "Shape",
    required: false,
    code: ({ containerId, onChange }) => {
      const input = document.createElement("input");
      input.oninput = () => onChange({ sides: Number(input.value) });
      document.getElementById(containerId).append(input);
    },
  }),
};

exports.table = table;
exports.cells = cells;
