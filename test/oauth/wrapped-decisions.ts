import type { OAuthServices } from '../../api/oauth/services.ts';
import type { Decision } from '../../api/box/state-cache.ts';

/** Services whose decisions are wrapped first. */
export function wrapDecisions(services: OAuthServices, wrap: <T>(decision: Decision<T>) => Decision<T>): OAuthServices {
  const { states } = services;
  return {
    ...services,
    states: {
      get size() {
        return states.size;
      },
      holds: (box) => states.holds(box),
      quota: states.quota,
      blank: states.blank,
      decide: (box, decision) => states.decide(box, wrap(decision)),
    },
  };
}

/**
 * Services for which the box changes during the first two attempts of each decision, so that it is made under the lock.
 */
export function decidingUnderLock(services: OAuthServices, change: (name: string) => Promise<void>): OAuthServices {
  let changes = 0;
  return wrapDecisions(services, (decision) => {
    let attempts = 0;
    return async (state, statements, transaction) => {
      attempts += 1;
      if (attempts <= 2) await change(`change ${String((changes += 1))}`);
      return decision(state, statements, transaction);
    };
  });
}
