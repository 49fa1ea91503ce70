import type { BenchPostgres } from '../machine/postgres.ts';
import type { Row } from '../scenario.ts';

/** What a row of this table works with. */
export interface OperatorContext {
  readonly postgres: BenchPostgres;
  /** Small sizes, to see that a row works: its figures mean nothing. */
  readonly small: boolean;
  /** How often what is compared takes turns. */
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
