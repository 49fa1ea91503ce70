import { hash } from 'node:crypto';
import Negotiator from 'negotiator';
import { colorRule, icon, palette } from './palette.ts';

/** Languages of the pages; the first is the default. */
export const LANGUAGES = ['en', 'de'] as const;

/** One of {@link LANGUAGES}. */
export type Language = (typeof LANGUAGES)[number];

/** Returns the language that an Accept-Language header prefers (RFC 9110 §12.5.4). */
export function chooseLanguage(acceptLanguage: string | undefined): Language {
  if (acceptLanguage === undefined) return 'en';
  const [wanted] = new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages([...LANGUAGES]);
  return LANGUAGES.find((one) => one === wanted) ?? 'en';
}

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
main .mark { display: block; margin: 0 0 1rem; font-size: 2.5rem; }
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
  font-weight: 600; color: var(--on-button); background: var(--button); border: 1px solid var(--accent);
  border-radius: .5rem; cursor: pointer; }
button.second { color: var(--accent); background: transparent; border-color: var(--line); }
button:hover { text-decoration: underline; }
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

/** A piece of a page whose every value is escaped: it can be made by {@link markup} only. */
export interface Markup {
  readonly [made]: string;
}

const made: unique symbol = Symbol('markup');

/** Value that a page may contain. Undefined is rendered as nothing; there is no way to insert unescaped text. */
type Value = string | number | Markup | readonly Markup[] | undefined;

/**
 * Builds HTML from a tagged template: its own text is taken as it is, and every value is escaped, both for text and for
 * attributes in double quotes.
 */
export function markup(template: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const parts = template.map((text, nth) => text + written(values[nth]));
  return { [made]: parts.join('') };
}

/** Returns a whole page as text. */
export function markupText(page: Markup): string {
  return page[made];
}

function written(value: Value): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return value.replace(/[&<>"'`]/g, (sign) => `&#${String(sign.charCodeAt(0))};`);
  return isOne(value) ? value[made] : value.map(markupText).join('');
}

function isOne(value: Markup | readonly Markup[]): value is Markup {
  return made in value;
}

/** Appearance of a box's pages, from its settings. */
export interface BoxLook {
  readonly name: string | undefined;
  readonly logo: string | undefined;
  /** Colour, `#rrggbb`. */
  readonly color: string | undefined;
  /** Issuer, to which the answer to a form leads, also when its page was opened at another host of the box. */
  readonly issuer: string;
}

/** Frame around the content of a box's page. */
export interface PageFrame {
  readonly language: Language;
  /** Title of the window, and the heading. */
  readonly title: string;
  /** The name of the box for people, where it has one. */
  readonly name?: string | undefined;
  readonly logo?: string | undefined;
  readonly color?: string | undefined;
  readonly issuer?: string | undefined;
}

/** A page as it is sent: its text, its logo, its own style and its script. */
export interface Page {
  readonly language: Language;
  readonly text: string;
  readonly logo: string | undefined;
  readonly issuer?: string | undefined;
  /** The colour of its box, as CSS; undefined: it has the style of all pages alone. */
  readonly style?: string | undefined;
  /** The only script that may run; undefined: none. */
  readonly script?: string | undefined;
}

/** Puts content into the frame that all pages share. A `script` runs after it, without characters that HTML escapes. */
export function page(frame: PageFrame, content: Markup, script?: string): Page {
  const { language, title, name, logo, color, issuer } = frame;
  const style = color === undefined ? undefined : colorRule(color);
  const text = markupText(markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${name === undefined ? title : `${title} · ${name}`}</title>
<link rel="icon" href="${icon}">
<style>${styles}</style>
${style === undefined ? undefined : markup`<style>${style}</style>`}
</head>
<body>
<main>
${logo === undefined ? markup`<span class="mark"></span>` : markup`<img class="logo" src="${logo}" alt="">`}
${name === undefined ? undefined : markup`<p class="name">${name}</p>`}
<h1>${title}</h1>
${content}
</main>
${script === undefined ? undefined : markup`<script>${script}</script>`}
</body>
</html>
`);
  return { language, text, logo, issuer, style, script };
}

/** Returns the source by which a Content-Security-Policy allows one inline style or script (CSP 3 §2.3.1). */
export function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}

const stylesSource = sourceOf(styles);

/**
 * Returns the Content-Security-Policy of a page: its own styles, its icon and logo, and its one script may be used,
 * nothing else, and no page may frame it. Its form may be sent anywhere when the answer `leaves` for an app, otherwise
 * to its own host and the issuer's: browsers apply that limit to every redirect that follows, even to the app's own.
 */
export function pagePolicy(
  { logo, issuer, style, script }: Pick<Page, 'logo' | 'issuer' | 'style' | 'script'>,
  leaves: boolean,
): string {
  const rules = [
    "default-src 'none'",
    `style-src ${stylesSource}${style === undefined ? '' : ` ${sourceOf(style)}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `img-src data:${logo === undefined ? '' : ' https:'}`,
  ];
  if (script !== undefined) rules.push(`script-src ${sourceOf(script)}`);
  if (!leaves) rules.push(`form-action 'self'${issuer === undefined ? '' : ` ${new URL(issuer).origin}`}`);
  return rules.join('; ');
}
