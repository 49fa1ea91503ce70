import type { RouteWorld } from './world.ts';

/** Load of a route, and how fast it has to be. */
export interface RouteRow {
  /** The route as in the route table: `GET /Client/:id`. */
  readonly route: string;
  /** Distinguishes the rows of one route. */
  readonly variant?: string;
  /** The row whose rate this one is compared with, and the least ratio. */
  readonly goal?: { readonly of: Reference; readonly least: number };
  /** The only status that counts as served; 200 by default. */
  readonly status?: number;
  /** True if each of the requests can be served once only. */
  readonly isOnce?: true;
  /** Connections that ask; 64 by default. */
  readonly connections?: number;
  requests(world: RouteWorld): readonly string[] | Promise<readonly string[]>;
}

/** Rates that others are compared with: an opaque token of a client, and its introspection. */
export type Reference = 'token' | 'introspection';

/** The name of a row. */
export function nameOf({ route, variant }: RouteRow): string {
  return variant === undefined ? `\`${route}\`` : `\`${route}\`, ${variant}`;
}
