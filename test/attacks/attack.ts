import type { Stage } from './stage.ts';

/** Requests that one side sends, again from the first after the last. */
export interface Load {
  /** Whole HTTP/1.1 requests as text. */
  readonly requests: readonly string[];
  readonly connections: number;
  /** Requests a second, on a fixed schedule; undefined: the next one as soon as an answer is there. */
  readonly rate: number | undefined;
}

/** Starts the API with settings of its own. */
export type StartStage = (settings?: Readonly<Record<string, string>>) => Promise<Stage>;

/** Both sides of an attack, ready to begin. */
export interface Sides {
  /** Load of the victim, sent first alone and then under attack. */
  readonly victim: Load;
  /** Load of the victim under attack, if each of its requests can be sent only once. */
  readonly victimLater?: Load;
  readonly attacker: Load;
}

/** One box that takes all it can get of a resource, while another box is used as always. */
export interface Attack {
  /** The resource that the boxes share. */
  readonly resource: string;
  /** The attack, as a sentence. */
  readonly what: string;
  /** The status of every answer that the victim gets. */
  readonly served: number;
  /** Starts the API and declares what both sides need; the victim asks for something for `seconds` twice. */
  prepare(start: StartStage, seconds: number): Promise<Sides>;
}
