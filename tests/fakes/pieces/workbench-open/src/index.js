"use strict";
/** A piece without accounts. */
const { createAction, createPiece, PieceAuth, Property } = require("@activepieces/pieces-framework");

exports.open = createPiece({
  displayName: "Open workbench",
  description: "Needs no account.",
  logoUrl: "https://cdn.workbench.example/logo.png",
  authors: [],
  auth: PieceAuth.None(),
  actions: [
    createAction({
      name: "add",
      displayName: "Add",
      description: "Adds two numbers.",
      requireAuth: false,
      props: {
        left: Property.Number({ displayName: "Left", required: true }),
        right: Property.Number({ displayName: "Right", required: true }),
      },
      run: async ({ auth, propsValue }) => ({ sum: propsValue.left + propsValue.right, auth: auth ?? null }),
    }),
  ],
  triggers: [],
});
