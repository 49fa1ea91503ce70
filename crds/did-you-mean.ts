import { isObject } from './path.ts';

/** Longest text that is compared with words: a longer one is no misspelling. */
const LONGEST = 64;

/**
 * Returns the word that a misspelled text probably means: the one with the fewest changes, if those are few for its
 * length. Case and separators are no changes: `grantTypes` is `grant_types`. The first of several wins; undefined if
 * none is close.
 */
export function closestWord(text: string, words: Iterable<string>): string | undefined {
  if (text.length > LONGEST) return undefined;
  const letters = lettersOf(text);
  let closest: string | undefined;
  let fewest = mostChanges(letters) + 1;
  for (const word of words) {
    const other = lettersOf(word);
    if (word === text || other === '' || Math.abs(other.length - letters.length) >= fewest) continue;
    const changes = distance(letters, other);
    if (changes < fewest) [closest, fewest] = [word, changes];
  }
  return closest;
}

/** Returns a text without case and separators. */
function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[-_.\s]/g, '');
}

/** Returns the number of changes up to which a text is taken for a misspelled word: a quarter of its length, 1 to 5. */
function mostChanges({ length }: string): number {
  return length < 3 ? 0 : Math.min(Math.max(Math.round(length / 4), 1), 5);
}

/**
 * Returns how many single changes lead from one text to another: a letter added, left out, replaced, or exchanged with
 * its neighbour (the restricted Damerau-Levenshtein distance). Three rows of numbers, whatever the texts.
 */
function distance(one: string, other: string): number {
  let before: readonly number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isExchanged = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(
        Math.min(
          at(above, column) + 1,
          at(current, column - 1) + 1,
          at(above, column - 1) + (isSame ? 0 : 1),
          isExchanged ? at(before, column - 2) + 1 : Infinity,
        ),
      );
    }
    [before, above] = [above, current];
  }
  return at(above, other.length);
}

/** Returns a number of a row; infinite beyond its ends, where there is nothing to change. */
function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}

/**
 * Fields under their names in other products and standards (RFC 7591, Auth0, Keycloak), without case and separators:
 * the paths that may be meant, of which the first one that the schema has is shown.
 */
const OTHER_NAMES: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['clientid', ['id']],
  ['clientsecret', ['secret']],
  ['clientname', ['name']],
  ['enabled', ['active']],
  ['kind', ['resourceType']],
  ['weborigins', ['allowed_origins']],
  ['redirecturi', ['auth.authorization_code.redirect_uri']],
  ...['redirecturis', 'callbacks', 'callbackurl', 'callbackurls'].map(
    (name) => [name, ['auth.authorization_code.redirect_uris', 'redirect_uris']] as const,
  ),
]);
/** Depth to which a field that stands at the wrong place is searched below its object. */
const DEEPEST = 3;

/** Number of faults of one value that get a hint: a body of garbage is not compared with every known name. */
export const MOST_HINTS = 20;

/** Returns the end of a message about an unknown word: the known one that it may mean, or nothing. */
export function wordHint(text: string, words: Iterable<string>): string {
  return didYouMean(closestWord(text, words));
}

/**
 * Returns the end of a message about a field that its object does not have: the field that it may mean, or nothing.
 * `schema` is that of the object, `object` its value, whose other fields are not meant.
 */
export function fieldHint(name: string, schema: unknown, object: unknown): string {
  const properties = propertiesOf(schema);
  const absent = Object.keys(properties).filter((known) => !isObject(object) || !Object.hasOwn(object, known));
  const other = OTHER_NAMES.get(lettersOf(name))?.find((path) => {
    const [first = '', ...further] = path.split('.');
    return further.length === 0 ? absent.includes(first) : Object.hasOwn(properties, first);
  });
  const written = absent.find((known) => lettersOf(known) === lettersOf(name));
  return didYouMean(written ?? other ?? closestWord(name, absent) ?? onlyBelow(name, properties));
}

/** Returns the end of a message that names the word which was probably meant; nothing if there is none. */
export function didYouMean(word: string | undefined): string {
  return word === undefined ? '' : `. Did you mean \`${word}\`?`;
}

/** Returns the path of the only field of this name further below; undefined if there is none, or several. */
function onlyBelow(name: string, properties: Readonly<Record<string, unknown>>): string | undefined {
  const [only, ...others] = below(lettersOf(name), properties, DEEPEST);
  return others.length === 0 ? only : undefined;
}

function below(letters: string, properties: Readonly<Record<string, unknown>>, depth: number): readonly string[] {
  if (depth === 0 || letters === '') return [];
  return Object.entries(properties).flatMap(([parent, schema]) => {
    const inner = propertiesOf(schema);
    const here = Object.keys(inner).filter((known) => lettersOf(known) === letters);
    return [...here, ...below(letters, inner, depth - 1)].map((path) => `${parent}.${path}`);
  });
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  return isObject(properties) ? properties : {};
}
