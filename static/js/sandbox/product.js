/* Acme Desk's page: each button opens the Connect Link in its own way. */
const proof = document.querySelector("meta[name=csrf-token]").content;
const says = document.querySelector("#says");

/* The token comes from Acme Desk's own server, for whoever is signed in. */
const tokenCallback = () =>
  fetch("/product/token", { method: "POST", headers: { "X-CSRFToken": proof } }).then((answer) => answer.json());

const showAccounts = async () => {
  const text = await (await fetch("/product")).text();
  const fresh = new DOMParser().parseFromString(text, "text/html");
  document.querySelector("#accounts").replaceWith(fresh.querySelector("#accounts"));
};

for (const button of document.querySelectorAll("[data-mode]")) {
  button.addEventListener("click", (event) => {
    event.preventDefault();
    Patchbay.connect({ app: "sandbox", mode: button.dataset.mode, tokenCallback })
      .then(async (account) => {
        await showAccounts();
        says.textContent = `The account is connected: ${account.id}`;
      })
      .catch((ending) => (says.textContent = ending.message));
  });
}

/* The portal: the user's own pages, as a part of this one. */
document.querySelector("#manage").addEventListener("click", ({ target }) => {
  target.disabled = true;
  Patchbay.portal({ element: "#portal", tokenCallback, onSuccess: showAccounts });
  says.textContent = "Your accounts and triggers stand above.";
});

/* Back from the Connect Link, which was in this tab. */
const result = Patchbay.returned();
if (result) says.textContent = result.id ? `The account is connected: ${result.id}` : "No account was connected.";
