import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { endOnSignals } from '../../program/signals.ts';

describe('process 1 of a container', () => {
  /** A process that notes how it was ended. */
  function started() {
    const codes: number[] = [];
    const signals = new EventEmitter();
    const exit = (code?: number | string | null): never => {
      codes.push(Number(code));
      throw new Error('ended');
    };
    const on = (signal: string, listener: () => void) => signals.on(signal, listener);
    endOnSignals({ on, exit, listenerCount: (signal) => signals.listenerCount(signal) });
    return { codes, signals };
  }

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    it(`ends at ${signal} while no command has anything to do about it`, () => {
      const { codes, signals } = started();
      expect(() => signals.emit(signal)).to.throw('ended');
      expect(codes).to.deep.equal([code]);
    });

    it(`leaves ${signal} to a command that stops by itself, and ends at a second one`, () => {
      const { codes, signals } = started();
      signals.once(signal, () => undefined);
      signals.emit(signal);
      expect(codes).to.deep.equal([]);
      expect(() => signals.emit(signal)).to.throw('ended');
      expect(codes).to.deep.equal([code]);
    });
  }
});
