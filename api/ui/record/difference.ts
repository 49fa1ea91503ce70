import type { ShownField } from './record-kind.ts';

/** A line of a text; the other text may not have it. */
export interface Line {
  readonly text: string;
  readonly isOnlyHere: boolean;
}

/** A field that differs between two versions of a record. */
export interface Difference {
  readonly label: string;
  readonly mine: readonly Line[];
  readonly stored: readonly Line[];
}

/** Returns the fields that differ, with their lines. */
export function differences(mine: readonly ShownField[], stored: readonly ShownField[]): readonly Difference[] {
  return mine.flatMap(({ label, text }) => {
    const other = stored.find((field) => field.label === label)?.text ?? '';
    if (text === other) return [];
    return [{ label, mine: linesOf(text, other), stored: linesOf(other, text) }];
  });
}

function linesOf(text: string, other: string): readonly Line[] {
  const others = new Set(other.split('\n'));
  return text.split('\n').map((line) => ({ text: line, isOnlyHere: !others.has(line) }));
}
