import { isObject } from './json-value.ts';
import { closestWord, lettersOf } from './closest-word.ts';

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
