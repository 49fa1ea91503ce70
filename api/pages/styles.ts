/** Colours of all pages, by day and by night, as variables: the admin UI has the same. */
export const palette = `
:root { color-scheme: light dark; --paper: #f4f5f7; --card: #ffffff; --ink: #1b1f27; --soft: #59616f; --line: #8a92a0;
  --edge: #e2e5ea; --accent: #1f5fbf; --on-accent: #ffffff; --alert: #a3211d; --alert-paper: #fdf0ef; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #12151b; --card: #1b1f27; --ink: #eceef2; --soft: #a7afbc; --line: #767f8f;
    --edge: #2a303b; --accent: #8ab4f8; --on-accent: #10131a; --alert: #ffb4ab; --alert-paper: #3a1d1c; }
}
`;

/**
 * The style of all pages. It holds none of the characters that HTML escapes, because it is inserted in the page like
 * any other text: no quotes, no `>`, no `&`.
 */
export const styles = `${palette}
* { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, sans-serif; background: var(--paper); color: var(--ink); }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 1.5rem 1rem; }
main { width: 100%; max-width: 25rem; padding: 2rem; background: var(--card); border: 1px solid var(--edge);
  border-radius: 1rem; box-shadow: 0 1px 2px rgb(0 0 0 / 5%), 0 12px 32px rgb(0 0 0 / 7%); overflow-wrap: anywhere; }
.logo { display: block; max-width: 10rem; max-height: 3rem; margin: 0 0 1rem; }
.name { margin: 0 0 .25rem; color: var(--soft); font-size: .9375rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; }
p { margin: 0 0 1rem; }
p:last-child { margin-bottom: 0; }
.soft { color: var(--soft); font-size: .9375rem; }
.alert { padding: .75rem 1rem; border-radius: .5rem; background: var(--alert-paper); color: var(--alert); }
.hint { margin: 0 0 .375rem; color: var(--soft); font-size: .9375rem; }
.other { margin-top: 1.25rem; }
label { display: block; margin: 0 0 .375rem; font-weight: 550; }
input { display: block; width: 100%; min-height: 2.75rem; margin: 0 0 1.125rem; padding: .5rem .75rem; font: inherit;
  color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .5rem; }
button { display: block; width: 100%; min-height: 2.75rem; margin: .75rem 0 0; padding: .5rem 1rem; font: inherit;
  font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent);
  border-radius: .5rem; cursor: pointer; }
button.second { color: var(--accent); background: transparent; border-color: var(--line); }
button:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
dl { margin: 0 0 1rem; }
dt { color: var(--soft); font-size: .9375rem; }
dd { margin: 0 0 .75rem; }
ul { margin: 0; padding: 0 0 0 1.25rem; }
@media (max-width: 28rem) {
  body { padding: 0; place-items: stretch; }
  main { max-width: none; border: 0; border-radius: 0; box-shadow: none; padding: 2rem 1.25rem; }
}
@media (forced-colors: active) { button { border: 1px solid; } }
`;
