import type { BenchContext } from './context.ts';

/** The tables of docs/maintainers/performance.md, each between markers of its own. */
export type TableName = 'bench' | 'bench-operator';

/** A row of a table in docs/maintainers/performance.md. */
export interface Row {
  /** Subject of the measurement; it identifies the row from one run to the next. */
  readonly what: string;
  readonly goal: string;
  readonly figure: string;
  readonly verdict: 'met' | 'missed' | 'reported';
}

/** Something to measure, by itself: `npm run bench -- <name>` runs only this. */
export interface Scenario {
  readonly name: string;
  /** Minutes of work that `make bench` leaves out; `npm run bench -- <name>` runs it. */
  readonly large?: true;
  run(context: BenchContext): Promise<Row[]>;
}

/** The verdict of a figure that has a goal. */
export function verdictOf(met: boolean): Row['verdict'] {
  return met ? 'met' : 'missed';
}
