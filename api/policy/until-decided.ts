import { setImmediate } from 'node:timers/promises';
import { compileAhead } from './compile-ahead.ts';
import type { Uncompiled, Undecided } from './decide.ts';
import type { Needs } from './needs.ts';

/** A decision that is not made yet: more of the request is needed, policies must be compiled, or its time ran out. */
export type Unsettled = Undecided | Uncompiled | { readonly isOutOfTime: true };

/**
 * Repeats an attempt until it decides: after policies were compiled, after `readMore` has read more of the request, and
 * once after the time ran out, since code runs slower the first time. That attempt is the last one: it must decide.
 * Throws what the attempt throws, and TypeError if it needs more than the whole request.
 */
export async function untilDecided<T>(
  attempt: (isLast: boolean) => Promise<T | Unsettled>,
  readMore?: (needs: Needs) => Promise<void>,
): Promise<T> {
  let isLast = false;
  for (;;) {
    const result = await attempt(isLast);
    if (!isUnsettled(result)) return result;
    if ('uncompiled' in result) {
      await compileAhead(result.uncompiled);
    } else if ('isOutOfTime' in result) {
      await setImmediate();
      isLast = true;
    } else {
      if (readMore === undefined) throw new TypeError('undecided by the whole request');
      await readMore(result.undecided);
      isLast = false;
    }
  }
}

function isUnsettled(result: unknown): result is Unsettled {
  if (typeof result !== 'object' || result === null) return false;
  return 'uncompiled' in result || 'isOutOfTime' in result || 'undecided' in result;
}
