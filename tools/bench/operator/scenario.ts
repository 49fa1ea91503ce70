import type { BenchPostgres } from '../machine/postgres.ts';
import type { Row } from '../scenario.ts';

/** Dependencies of a row of this table. */
export interface OperatorContext {
  readonly postgres: BenchPostgres;
  /** Small sizes, to see that a row works: its figures mean nothing. */
  readonly small: boolean;
  /** Rounds in which the compared programs take turns. */
  readonly rounds: number;
  /** Folder for CPU profiles of every operator. */
  readonly profile: string | undefined;
  /** A line for the person who watches. */
  say(line: string): void;
}

/** Something to measure by itself, on a cluster of its own: `npm run bench:operator -- <name>` runs only this. */
export interface OperatorScenario {
  readonly name: string;
  run(context: OperatorContext): Promise<Row[]>;
}
