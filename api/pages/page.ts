import { hash } from 'node:crypto';
import { markup, markupText } from './markup.ts';
import type { Markup } from './markup.ts';
import type { Language } from './language.ts';
import { styles } from './styles.ts';

/** Appearance of a box's pages, from its settings. */
export interface BoxLook {
  readonly name: string | undefined;
  readonly logo: string | undefined;
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
  readonly issuer?: string | undefined;
}

/** A page as it is sent: its text, its logo and its script. */
export interface Page {
  readonly language: Language;
  readonly text: string;
  readonly logo: string | undefined;
  readonly issuer?: string | undefined;
  /** The only script that may run; undefined: none. */
  readonly script?: string | undefined;
}

/** Puts content into the frame that all pages share. A `script` runs after it, without characters that HTML escapes. */
export function page(frame: PageFrame, content: Markup, script?: string): Page {
  const { language, title, name, logo, issuer } = frame;
  const text = markupText(markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${name === undefined ? title : `${title} · ${name}`}</title>
<style>${styles}</style>
</head>
<body>
<main>
${logo === undefined ? undefined : markup`<img class="logo" src="${logo}" alt="">`}
${name === undefined ? undefined : markup`<p class="name">${name}</p>`}
<h1>${title}</h1>
${content}
</main>
${script === undefined ? undefined : markup`<script>${script}</script>`}
</body>
</html>
`);
  return { language, text, logo, issuer, script };
}

const styleHash = hash('sha256', styles, 'base64');

/**
 * Returns the Content-Security-Policy of a page: its own style, its logo and its one script may be used, nothing else,
 * and no page may frame it. Its form may be sent anywhere when the answer `leaves` for an app, otherwise to its own
 * host and the issuer's: browsers apply that limit to every redirect that follows, even to the app's own.
 */
export function pagePolicy(
  { logo, issuer, script }: Pick<Page, 'logo' | 'issuer' | 'script'>,
  leaves: boolean,
): string {
  const rules = ["default-src 'none'", `style-src 'sha256-${styleHash}'`, "base-uri 'none'", "frame-ancestors 'none'"];
  if (script !== undefined) rules.push(`script-src 'sha256-${hash('sha256', script, 'base64')}'`);
  if (logo !== undefined) rules.push('img-src https:');
  if (!leaves) rules.push(`form-action 'self'${issuer === undefined ? '' : ` ${new URL(issuer).origin}`}`);
  return rules.join('; ');
}
