import { momentAt } from './keyset.ts';
import type { Parameters, TimeRange } from './keyset.ts';

/** Collects the conditions of a WHERE with their values; a comparison with an absent value is no condition. */
export class Conditions {
  readonly #parameters: Parameters;
  readonly #texts: string[] = [];

  constructor(parameters: Parameters) {
    this.#parameters = parameters;
  }

  /** Adds a condition as SQL. */
  add(text: string): void {
    this.#texts.push(text);
  }

  /** Adds a condition on a value, unless the value is undefined; `condition` receives its placeholder. */
  compare(value: unknown, condition: (place: string) => string): void {
    if (value !== undefined) this.#texts.push(condition(this.#parameters.add(value)));
  }

  /** Demands that the moment in a column lies within a range. */
  within(column: string, range: TimeRange | undefined): void {
    this.compare(range?.from, (place) => `${column} >= ${momentAt(place)}`);
    this.compare(range?.to, (place) => `${column} < ${momentAt(place)}`);
  }

  /** All conditions as one. */
  get text(): string {
    return this.#texts.join(' AND ');
  }
}
