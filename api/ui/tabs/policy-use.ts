import { useMemo } from 'preact/hooks';
import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { apiPath } from '../connection/api-path.ts';
import { DAY, objectsOf, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Row } from '../rows/row-source.ts';
import { useFetched } from './use-fetched.ts';

/** Times at which policies last granted a request. */
export interface PolicyUse {
  /** Since when this is known; '' before it was read. */
  readonly since: string;
  /** A policy has `id`, `created_at` and `last_used_at`. */
  readonly policies: readonly JsonObject[];
}

/** Reads when policies last granted a request; empty for a person who may not. */
export function usePolicyUse(): PolicyUse {
  const { answer } = useFetched(apiPath`/AccessPolicy/$usage`);
  return useMemo(() => {
    const body = answer?.kind === 'done' && isObject(answer.body) ? answer.body : {};
    return { since: textOf(body, 'recorded_since'), policies: objectsOf(body['policies']) };
  }, [answer]);
}

/** Fills the last cell of each policy with its last use. */
export function useLastUse(rows: readonly Row[]): readonly Row[] {
  const { say } = useUi();
  const { policies } = usePolicyUse();
  return useMemo(() => {
    const uses = new Map(policies.map((policy) => [textOf(policy, 'id'), textOf(policy, 'last_used_at')]));
    return rows.map((row) => {
      const time = uses.get(row.id);
      if (time === undefined) return row;
      return { ...row, cells: [...row.cells.slice(0, -1), time === '' ? say.never : { time }] };
    });
  }, [rows, policies]);
}

/** Milliseconds without a use after which a policy can probably go. */
const UNUSED = 90 * DAY;

/** Returns the IDs of policies that granted nothing for 90 days, as far as it is known. */
export function unusedIn({ since, policies }: PolicyUse, now: number): readonly string[] {
  const idle = policies.filter((policy) => {
    const known = [textOf(policy, 'created_at'), since].map((time) => Date.parse(time));
    const used = textOf(policy, 'last_used_at');
    return now - (used === '' ? Math.max(...known) : Date.parse(used)) > UNUSED;
  });
  return idle.map((policy) => textOf(policy, 'id'));
}
