import { JsonBytes, UnexpectedBytes, type Place } from './json-bytes.ts';

/** Text of a watch event whose spec may have been shortened. */
export interface EventText {
  readonly text: string;
  /** Characters of the spec as JSON, if only its short members are left. */
  readonly specLength?: number;
}

/** Bytes that a member of a shortened spec may have: an id, a switch. */
const SHORT_MEMBER = 1_024;

/**
 * Returns the text of a watch event; of a spec with more than `longest` characters as JSON only the short members are
 * left. To parse a megabyte only to refuse it took most of the operator's time while a tenant made such objects.
 * An event of another form than the API server sends stays whole. Throws TypeError if the bytes are not UTF-8.
 */
export function withoutLongSpec(line: Buffer, longest: number): EventText {
  const spec = line.length > longest ? specIn(line) : undefined;
  if (spec === undefined || spec.length <= longest) return { text: decoder.decode(line) };
  const textOf = ({ start, end }: Place): string => decoder.decode(line.subarray(start, end));
  const short = spec.members.filter(({ start, end }) => end - start <= SHORT_MEMBER).map(textOf);
  const [before, after] = [textOf({ start: 0, end: spec.start }), textOf({ start: spec.end, end: line.length })];
  return { text: `${before}{${short.join(',')}}${after}`, specLength: spec.length };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

interface Spec extends Place {
  readonly members: readonly Place[];
  /** Characters as JSON. */
  readonly length: number;
}

/** Finds the spec of the event's object; undefined if there is none where the API server writes it. */
function specIn(line: Buffer): Spec | undefined {
  const bytes = new JsonBytes(line);
  try {
    const object = bytes.valueOf('object', 0);
    const start = object && bytes.valueOf('spec', object);
    if (start === undefined) return undefined;
    const members = [...bytes.members(start)];
    const end = (members.at(-1)?.end ?? start + 1) + 1;
    return { start, end, members, length: bytes.characters({ start, end }) };
  } catch (error) {
    if (error instanceof UnexpectedBytes) return undefined;
    throw error;
  }
}
