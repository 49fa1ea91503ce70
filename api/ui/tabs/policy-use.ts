import { useMemo } from 'preact/hooks';
import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { apiPath } from '../connection/api-path.ts';
import { objectsOf, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Cell, Row } from '../rows/row-source.ts';
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
  const { say, language } = useUi();
  const { since, policies } = usePolicyUse();
  return useMemo(() => {
    const known = new Map(policies.map((policy) => [textOf(policy, 'id'), policy]));
    const unused = (policy: JsonObject): Cell => {
      // Its use is known since then, and for a younger one always.
      const isYoung = Date.parse(textOf(policy, 'created_at')) >= Date.parse(since);
      return isYoung ? say.never : say.neverUsed(new Date(since).toLocaleDateString(language, { dateStyle: 'medium' }));
    };
    return rows.map((row) => {
      const policy = known.get(row.id);
      if (policy === undefined) return row;
      const time = textOf(policy, 'last_used_at');
      return { ...row, cells: row.cells.with(-1, time === '' ? unused(policy) : { time }) };
    });
  }, [rows, policies]);
}
