/** Colours of all pages by day; the names are those of the CSS variables. */
const light = {
  paper: '#f4f5f7',
  card: '#ffffff',
  ink: '#1b1f27',
  soft: '#59616f',
  line: '#8a92a0',
  edge: '#e2e5ea',
  accent: '#1f5fbf',
  'on-accent': '#ffffff',
  alert: '#a3211d',
  'alert-paper': '#fdf0ef',
  good: '#17663a',
  'good-paper': '#e8f5ec',
} as const;

type Colors = Readonly<Record<keyof typeof light, string>>;

/** The same by night. */
const dark: Colors = {
  paper: '#12151b',
  card: '#1b1f27',
  ink: '#eceef2',
  soft: '#a7afbc',
  line: '#767f8f',
  edge: '#2a303b',
  accent: '#8ab4f8',
  'on-accent': '#10131a',
  alert: '#ffb4ab',
  'alert-paper': '#3a1d1c',
  good: '#8fd6a8',
  'good-paper': '#17301f',
};

const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><style>path{fill:${light.accent}}@media (prefers-color-scheme:dark){path{fill:${dark.accent}}}</style><path fill-rule="evenodd" d="M8 0l7 4v8l-7 4-7-4V4zM8 5a3 3 0 0 0-3 3v4l3 1.7 3-1.7V8a3 3 0 0 0-3-3z"/></svg>`;

/** The mark of Boxgate, a gate in a box, as a `data:` URL: no request, and no character that CSS escapes. */
export const icon = `data:image/svg+xml;base64,${Buffer.from(mark).toString('base64')}`;

/** Variables and the mark of all pages, for the pages of people and the admin UI. */
export const palette = `
:root { color-scheme: light dark; --button: var(--accent); --on-button: var(--on-accent); ${variables(light)} }
@media (prefers-color-scheme: dark) { :root { ${variables(dark)} } }
.mark { display: inline-block; width: 1em; height: 1em; background: var(--accent); mask: url(${icon});
  forced-color-adjust: none; }
`;

function variables(colors: Colors): string {
  return Object.entries(colors)
    .map(([name, color]) => `--${name}: ${color};`)
    .join(' ');
}

/** The least contrast of text (WCAG 2.2, 1.4.3). */
const LEAST_CONTRAST = 4.5;

/**
 * Returns the CSS rule that gives pages the colour of a box, `#rrggbb`. Buttons have that colour, and black or white
 * text, whichever contrasts more. Links, borders and the focus ring have it too, mixed toward the colour of the text
 * until it contrasts with every background.
 */
export function colorRule(color: string): string {
  const onButton = contrast(color, '#ffffff') >= contrast(color, '#000000') ? '#ffffff' : '#000000';
  return `:root { --button: ${color}; --on-button: ${onButton}; --accent: ${readable(color, light)}; }
@media (prefers-color-scheme: dark) { :root { --accent: ${readable(color, dark)}; } }`;
}

/** Mixes a colour toward that of the text, in steps of a twentieth, until it can be read on every background. */
function readable(color: string, { ink, paper, card, 'alert-paper': alertPaper }: Colors): string {
  const mixed = Array.from({ length: 21 }, (_, step) => mix(color, ink, step / 20));
  const isReadable = (one: string): boolean =>
    [paper, card, alertPaper].every((ground) => contrast(one, ground) >= LEAST_CONTRAST);
  return mixed.find(isReadable) ?? ink;
}

/** Returns the colour with `share` (0 to 1) of another one. */
function mix(color: string, other: string, share: number): string {
  const [from, to] = [channels(color), channels(other)];
  const mixed = from.map((value, nth) => Math.round(value + ((to[nth] ?? value) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the contrast ratio of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Returns the relative luminance of a colour, 0 to 1 (WCAG 2.2). */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns red, green and blue, 0 to 255. */
function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}
