// Options of a property and the fields of dynamic ones, which the piece asks its provider for.
"use strict";

const { authOf } = require("./auth.cjs");
const { propertyContext } = require("./contexts.cjs");
const { properties } = require("./describing.cjs");
const { resultOf } = require("./plain.cjs");

/** The options of the property `fields.prop`, or of its `fields.field`: `{options, disabled, placeholder, searches}`. */
async function options(piece, part, call) {
  const { prop, field } = call.fields;
  const values = valuesOf(piece, call.fields);
  const property = await propertyOf(part.props?.[prop], field, values, call);
  if (typeof property?.options !== "function") throw new Error(`${field || prop} has no options to ask for.`);
  const answer = await property.options(field ? { ...values, ...values[prop] } : values, propertyContext(call));
  return {
    options: Array.isArray(answer?.options) ? resultOf(answer.options) : null,
    disabled: Boolean(answer?.disabled),
    placeholder: answer?.placeholder ? String(answer.placeholder) : "",
    searches: property.refreshOnSearch === true,
  };
}

/** The property itself, or the `field` of a dynamic one, which is made anew with every call. */
async function propertyOf(property, field, values, call) {
  if (!field) return property;
  const made = typeof property?.props === "function" ? await property.props(values, propertyContext(call)) : {};
  return Object.hasOwn(made ?? {}, field) ? made[field] : undefined;
}

/** The fields of each dynamic property: `{property: {field: metadata}}`. */
async function reload(piece, part, call) {
  const dynamic = Object.entries(part.props ?? {}).filter(([, property]) => typeof property.props === "function");
  const answers = dynamic.map(async ([name, property]) => [name, await fieldsOf(piece, property, call)]);
  return Object.fromEntries(await Promise.all(answers));
}

async function fieldsOf(piece, property, call) {
  const values = valuesOf(piece, call.fields);
  const isWaiting = (property.refreshers ?? []).some((name) => name !== "auth" && values[name] === undefined);
  try {
    return properties(await property.props(values, propertyContext(call)));
  } catch (error) {
    if (isWaiting) return {};
    throw error;
  }
}

function valuesOf(piece, fields) {
  return { ...fields.props, auth: authOf(piece, fields.auth) };
}

module.exports = { options, reload };
