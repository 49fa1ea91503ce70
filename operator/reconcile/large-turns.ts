import { LARGE_OBJECT } from '../desired/declared.ts';
import type { QueueOptions } from './queue.ts';

/** Characters of large objects that a turn carries, but at least one object. */
export const LARGE_TURN = 262_144;

/** Limit of a turn in milliseconds: a pass that hangs must not hold up the large objects of other boxes. */
const longestTurn = 2_000;

/** Length of the rest after a turn, as a multiple of the turn: while its box is alone, and while it has neighbours. */
const rest = { alone: 3, besideOthers: 7 };

/** Milliseconds for which a box counts as a neighbour after a pass of it has begun. */
const presence = 10_000;

/** Milliseconds in which the box whose turn it is must use it. */
const patience = 2_000;

/** Large objects of one pass. */
export interface LargeTurn {
  /**
   * Checks whether an object of so many characters may be sent to the API or written in this pass. A small one always
   * may. After the first refusal each large one is refused: its box is called once more when it has a turn.
   */
  take(length: number): boolean;
  /** True once an object was refused. */
  readonly isRefused: boolean;
  /** Ends the pass. A box whose pass failed has no further turn by itself: the queue repeats the pass. */
  end(isGood: boolean): void;
}

/** Turns of all boxes. */
export interface LargeTurns {
  /** Begins a pass of a box. */
  begin(box: string): LargeTurn;
  stop(): void;
}

/** Dependencies of the turns. */
export interface LargeTurnsOptions {
  /** Returns milliseconds. */
  readonly clock: () => number;
  readonly schedule: QueueOptions['schedule'];
  /** Called with the box whose turn it is. */
  readonly wake: (box: string) => void;
}

/**
 * Creates the turns in which large objects are applied and written: one box at a time, in their order, and after each
 * turn a rest three times as long as the turn was, or seven times while other boxes have passes. So large objects take
 * at most a quarter, or an eighth, of one worker of the API server and of the API, however many there are, and no pass
 * waits for them (decision 11).
 */
export function createLargeTurns(options: LargeTurnsOptions): LargeTurns {
  return new Turns(options);
}

/** Returns the objects that a pass may write to: all of the small ones, and large ones as its turn allows. */
export function inTurn<T extends { readonly length?: number }>(objects: readonly T[], turn: LargeTurn | undefined) {
  return turn === undefined ? objects : objects.filter(({ length = 0 }) => turn.take(length));
}

/** State of the turns: a box has its turn, all rest, the box that was called is waited for, or nobody wants a turn. */
type TurnState =
  | { readonly state: 'used'; readonly by: LargeTurn; readonly since: number }
  | { readonly state: 'resting' }
  | { readonly state: 'promised'; readonly to: string }
  | { readonly state: 'free' };

/** The beginning of a pass. */
interface Pass {
  readonly box: string;
  /** Milliseconds of the clock. */
  readonly at: number;
}

class Turns implements LargeTurns {
  readonly #options: LargeTurnsOptions;
  /** Boxes that wait, in their order. */
  readonly #waiting = new Set<string>();
  #state: TurnState = { state: 'free' };
  /** The box whose pass began last, and the last other one before it. */
  #passes: readonly Pass[] = [];
  #cancel = (): void => undefined;
  #isStopped = false;

  constructor(options: LargeTurnsOptions) {
    this.#options = options;
  }

  begin(box: string): LargeTurn {
    this.#passes = [{ box, at: this.#options.clock() }, ...this.#passes.filter((pass) => pass.box !== box)].slice(0, 2);
    let [taken, isRefused] = [0, false];
    const turn: LargeTurn = {
      get isRefused() {
        return isRefused;
      },
      take: (length) => {
        if (length <= LARGE_OBJECT) return true;
        isRefused ||= taken >= LARGE_TURN || !this.#isUsedBy(turn, box);
        if (isRefused) this.#waiting.add(box);
        else taken += length;
        return !isRefused;
      },
      end: (isGood) => {
        if (!isGood) this.#waiting.delete(box);
        const current = this.#state;
        if (current.state === 'used' && current.by === turn) this.#rest(box, current.since);
        // There is nothing large left for its turn.
        else if (current.state === 'promised' && current.to === box && !isRefused) this.#callNext();
      },
    };
    return turn;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** Begins a turn unless it is somebody else's; returns whether the turn is under way. */
  #isUsedBy(turn: LargeTurn, box: string): boolean {
    const current = this.#state;
    if (current.state === 'used') return current.by === turn;
    if (current.state === 'resting' || (current.state === 'promised' && current.to !== box)) return false;
    this.#waiting.delete(box);
    const since = this.#options.clock();
    this.#become({ state: 'used', by: turn, since }, longestTurn, () => this.#rest(box, since));
    return true;
  }

  #rest(box: string, since: number): void {
    const now = this.#options.clock();
    const took = Math.min(Math.max(0, now - since), longestTurn);
    const isAlone = this.#passes.every((pass) => pass.box === box || now - pass.at >= presence);
    const times = isAlone ? rest.alone : rest.besideOthers;
    this.#become({ state: 'resting' }, took * times, () => this.#callNext());
  }

  #callNext(): void {
    const [box] = this.#waiting;
    if (box === undefined) {
      this.#cancel();
      this.#state = { state: 'free' };
      return;
    }
    this.#waiting.delete(box);
    this.#become({ state: 'promised', to: box }, patience, () => this.#callNext());
    this.#options.wake(box);
  }

  /** Enters a state that ends after so many milliseconds, unless another one begins before. */
  #become(state: TurnState, wait: number, next: () => void): void {
    this.#cancel();
    this.#state = state;
    if (!this.#isStopped) this.#cancel = this.#options.schedule(wait, next);
  }
}
