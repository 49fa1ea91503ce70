import type { Language } from './page.ts';
import { markup, markupText, sourceOf } from './page.ts';
import { messages } from './messages.ts';
import { colorRule, icon } from './palette.ts';

/** Content of the page of the admin UI. */
interface UiView {
  readonly language: Language;
  /** ID of the box. */
  readonly box: string;
  /** The name of the box for people, where it has one. */
  readonly name: string | undefined;
  /** Colour of the box, `#rrggbb`; undefined: that of Boxgate. */
  readonly color: string | undefined;
  readonly issuer: string;
  /** Folder of the manifests that declare records; undefined: custom resources declare them. */
  readonly folder: string | undefined;
  /** Names of the files below `/ui/`. */
  readonly script: string;
  readonly style: string;
}

/** Renders the page of the admin UI, which its script fills. The files are relative to the address of the page. */
export function uiPage({ language, box, name, color, issuer, folder, script, style }: UiView): string {
  const say = messages[language];
  const title = `${say.administration} · ${name ?? box}`;
  return markupText(markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${style}">
${color === undefined ? undefined : markup`<style>${colorRule(color)}</style>`}
<script type="module" src="${script}"></script>
</head>
<body>
<div id="ui" data-box="${box}" data-name="${name ?? box}" data-issuer="${issuer}" data-folder="${folder ?? ''}">
<main class="alone">
<h1>${title}</h1>
<p>${say.uiLoads}</p>
<noscript><p>${say.uiNeedsScript}</p></noscript>
</main>
</div>
</body>
</html>
`);
}

/**
 * Returns the Content-Security-Policy of the page: its icon, the two files of the UI, the colour of the box, and calls
 * of the API, all of the same origin. Texts can never become markup: no policy for Trusted Types may be created.
 */
export function uiPolicy(color?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${color === undefined ? '' : ` ${sourceOf(colorRule(color))}`}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
