import { median, medianRatio } from '../median.ts';
import { verdictOf, type Row } from '../scenario.ts';
import { seconds, times } from './figures.ts';

/** Times of both in one round, in milliseconds. */
export interface Turn {
  readonly ours: number;
  /** The same work, done by somebody who does nothing else. */
  readonly bare: number;
}

/** A row for work that takes turns with the bare one, so many rounds; it is to take at most `goal` times as long. */
export async function againstBare(what: string, goal: number, rounds: number, turn: () => Promise<Turn>): Promise<Row> {
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const took = await turn();
    ours.push(took.ours);
    bare.push(took.bare);
  }
  const ratio = medianRatio(ours, bare);
  return {
    what,
    goal: `<= ${goal} times`,
    figure: `${times(ratio)} (${seconds(median(ours))} of ${seconds(median(bare))})`,
    verdict: verdictOf(ratio <= goal),
  };
}
