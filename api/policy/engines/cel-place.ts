import type { parse } from '@bufbuild/cel';

/** An expression as it was parsed, with its text. */
export interface Source {
  readonly text: string;
  readonly parsed: ReturnType<typeof parse>;
}

/** Returns where a part of an expression begins, as `line 2, column 5: `; empty text if nothing tells. */
export function placeOf({ text, parsed: { sourceInfo } }: Source, id: bigint | undefined): string {
  const offset = id === undefined ? undefined : sourceInfo?.positions[String(id)];
  if (offset === undefined) return '';
  // The library counts the space before an operator as part of it.
  const [before = ''] = SPACE.exec(text.slice(offset)) ?? [];
  const lines = text.slice(0, offset + before.length).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: `;
}

/** White space and comments. */
const SPACE = /^(?:\s|\/\/.*)*/;
