import type { Box } from '../../../crds/box.ts';
import type { BoxLook } from '../../pages/page.ts';
import type { BoxState } from '../../box/box-state.ts';
import type { ApiContext } from '../server/api-context.ts';
import { nothingHere } from '../../nothing-here.ts';

/** Settings of a box for its pages. */
export interface PageBox {
  readonly issuer: string;
  readonly look: BoxLook;
  /** True if nobody can sign in: the box is switched off, or its namespace is another one. */
  readonly isClosed: boolean;
  /** State at one config version. */
  readonly state: Pick<BoxState, 'box' | 'settings' | 'keys' | 'sessionsFrom' | 'revokedBefore'>;
}

/** Reads it; throws Problem `not-found` if there is no such box, and Outage. */
export async function pageBox(context: ApiContext, box: string): Promise<PageBox> {
  const { states, issuer } = context.oauth;
  const found = await states.decide(box, async (state) => {
    const { settings, keys, sessionsFrom, revokedBefore, builtInFrom } = state;
    const at = issuer(state);
    return {
      issuer: at,
      look: lookOf(settings, at),
      isClosed: settings.active === false || builtInFrom === undefined,
      state: { box, settings, keys, sessionsFrom, revokedBefore },
    };
  });
  if (found === undefined) throw nothingHere();
  return found;
}

/** Returns the look of the pages of a box. */
export function lookOf({ sign_in }: Box, issuer: string): BoxLook {
  return { name: sign_in?.title, logo: sign_in?.logo_url, issuer };
}
