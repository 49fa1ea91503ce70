import { OBJECT_NAME } from '../../../crds/fields.ts';
import { API_VERSION } from '../../../crds/kind.ts';
import type { Kind } from '../../../crds/kind.ts';
import { isList, isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';

/** Returns the manifest that declares a record in the namespace of a box. It never holds a secret. */
export function manifestOf(kind: Kind, namespace: string, record: JsonObject): string {
  const { id = '', secret: _secret, ...spec } = record;
  const name = objectName(String(id), kind);
  const shown = id === name ? spec : { id, ...spec };
  return yamlOf({ apiVersion: API_VERSION, kind, metadata: { name, namespace }, spec: shown });
}

const namePattern = new RegExp(OBJECT_NAME, 'u');

/** Returns the ID as far as Kubernetes permits it in the name of an object. */
function objectName(id: string, kind: Kind): string {
  const plain = id
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return namePattern.test(plain) ? plain : kind.toLowerCase();
}

/** Returns a JSON value as YAML in block style. Every text that might mean something else is quoted as in JSON. */
export function yamlOf(value: unknown): string {
  return `${linesOf(value).join('\n')}\n`;
}

function linesOf(value: unknown): readonly string[] {
  if (isList(value) && value.length > 0) return value.flatMap((one) => indented('- ', linesOf(one)));
  if (!isObject(value) || Object.keys(value).length === 0) return [scalarOf(value)];
  return Object.entries(value).flatMap(([name, member]) => {
    const lines = linesOf(member);
    const isBlock = (isList(member) && member.length > 0) || (isObject(member) && Object.keys(member).length > 0);
    return isBlock
      ? [`${scalarOf(name)}:`, ...lines.map((line) => `  ${line}`)]
      : [`${scalarOf(name)}: ${lines.join('')}`];
  });
}

function indented(first: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, nth) => (nth === 0 ? first : ' '.repeat(first.length)) + line);
}

function scalarOf(value: unknown): string {
  const isPlain = typeof value === 'string' && PLAIN.test(value) && !WORD.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** Text that YAML reads as itself. */
const PLAIN = /^[A-Za-z_/][A-Za-z0-9_./-]*(?:[ :][A-Za-z0-9_./-]+)*$/;
/** Words that YAML 1.1 takes for something else (https://yaml.org/type/bool.html), and `E0`, for some a number. */
const WORD = /^(?:y|n|yes|no|on|off|true|false|null|e-?\d+)$/i;
