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
