import { useMemo } from 'preact/hooks';
import { isObject } from '../../../crds/path.ts';
import { apiPath } from '../connection/api-path.ts';
import { objectsOf, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Row } from '../rows/row-source.ts';
import type { PolicyUse } from './unused-policies.ts';
import { useFetched } from './use-fetched.ts';

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
