import type { Box } from '../../../crds/box.ts';
import type { RefreshFamily } from '../../db/session/refresh-family.ts';
import type { RefreshSettings } from './settings.ts';

/** Lifetimes of a client's refresh tokens, in milliseconds. */
export interface RefreshLifetimes {
  /** Lifetime since the issue or the last use. */
  readonly sliding: number;
  /** Lifetime since the first issue, regardless of uses; never less than `sliding`. */
  readonly absolute: number;
}

/** Returns the latest end of a family in milliseconds. A limit that was shortened since it began applies to it. */
export function familyEnd(family: RefreshFamily, settings: RefreshSettings, box: Box): number {
  return Math.min(family.endsAt, family.createdAt + refreshLifetimes(settings, box).absolute);
}

const thirtyDays = 30 * 86_400;
const oneYear = 365 * 86_400;

/** Returns the lifetimes that a client's grant and its box configure; 30 days and one year by default. */
export function refreshLifetimes(settings: RefreshSettings, box: Box): RefreshLifetimes {
  const sliding = settings.refresh_token_expiration ?? thirtyDays;
  const absolute = box.tokens?.max_refresh_lifetime ?? oneYear;
  return { sliding: sliding * 1000, absolute: Math.max(absolute, sliding) * 1000 };
}
