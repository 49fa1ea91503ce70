import type { Random } from '../../support/random.ts';
import { awkwardText, garbled, oneIn } from './chance.ts';

/** A body as it goes over the wire, in Latin-1, with its media type. */
export interface FuzzBody {
  readonly type: string | undefined;
  readonly text: string | undefined;
}

/** Returns the body of a request, changed in a third of the cases. */
export function fuzzBody(body: FuzzBody, random: Random): FuzzBody {
  if (!oneIn(3, random)) return body;
  const type = oneIn(3, random) ? random.pick(types) : body.type;
  return { type, text: random.pick(changes)(body.text ?? '', random) };
}

const types: readonly [string | undefined, ...(string | undefined)[]] = [
  undefined,
  'application/json',
  'application/json; charset=utf-7',
  'application/yaml',
  'text/yaml',
  'application/x-www-form-urlencoded',
  'application/merge-patch+json',
  'application/json-patch+json',
  'multipart/form-data; boundary=x',
  'text/plain',
  'application/json, text/plain',
  ';;;',
];

type Change = (text: string, random: Random) => string | undefined;

const changes: readonly [Change, ...Change[]] = [
  () => undefined,
  () => '',
  garbled,
  (text, random) => garbled(garbled(text, random), random),
  (text, random) => text.slice(0, random.below(text.length + 1)),
  (text, random) => `${text}${random.pick(['\n', '&', ','])}${text}`,
  (text, random) => text.replace(/"[^"]*"(?=[,}\]])/, jsonValue(random)),
  (text, random) => text.replace(/=[^&]*/, `=${awkwardText(random)}`),
  (text, random) => text.replace(/^\{/, `{"${awkwardText(random).replaceAll('"', '')}":${jsonValue(random)},`),
  (_text, random) => jsonValue(random),
  (_text, random) => random.pick(wholeBodies),
];

/** JSON, most of it valid. */
function jsonValue(random: Random): string {
  return random.pick([
    'null',
    '-0',
    '1e400',
    '0.1',
    '"\\u0000"',
    '"\\ud800"',
    '[]',
    '{}',
    '{"__proto__":{"polluted":true}}',
    '{"a":1,"a":2}',
    '[{"op":"add","path":"/a/-","value":1}]',
    '[{"op":"move","from":"","path":"/a"}]',
    '['.repeat(2_000),
    `${'['.repeat(70)}${']'.repeat(70)}`,
    `"${'x'.repeat(5_000)}"`,
    JSON.stringify(awkwardText(random)),
  ]);
}

const wholeBodies: readonly [string, ...string[]] = [
  'a: &a [x]\nb: [*a,*a]\nc: *b\n',
  'id: made\ngrant_types: [client_credentials]\nsecret: 0123\n',
  '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  '\u00ef\u00bb\u00bf{"id":"made"}',
  '\u001f\u008b\u0008\u0000\u0000\u0000\u0000\u0000',
  'grant_type=client_credentials&grant_type=refresh_token',
  `grant_type=${'%41'.repeat(2_000)}`,
  '&'.repeat(3_000),
  Array.from({ length: 500 }, (_, nth) => `p${String(nth)}=x`).join('&'),
];
