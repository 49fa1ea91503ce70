import { useMemo } from 'preact/hooks';
import type { JsonObject } from '../../../crds/path.ts';
import { bodyOf } from '../connection/answer.ts';
import { apiPath } from '../connection/api-path.ts';
import { objectsOf, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Cell, Row } from '../rows/row-source.ts';
import type { PolicyUse } from './attention.ts';
import { useFetched } from './use-fetched.ts';

/** Reads when policies last granted a request; empty for a person who may not. */
export function usePolicyUse(): PolicyUse {
  const body = bodyOf(useFetched(apiPath`/AccessPolicy/$usage`).answer);
  return useMemo(() => ({ since: textOf(body, 'recorded_since'), policies: objectsOf(body['policies']) }), [body]);
}

/** Fills the last cell of each policy with its last use. */
export function usePolicyCells(rows: readonly Row[]): readonly Row[] {
  const { say, language } = useUi();
  const { since, policies } = usePolicyUse();
  return useMemo(() => {
    const unused = (policy: JsonObject): Cell => {
      // Its use is known since then, and for a younger one always.
      const isYoung = Date.parse(textOf(policy, 'created_at')) >= Date.parse(since);
      return isYoung ? say.never : say.neverUsed(new Date(since).toLocaleDateString(language, { dateStyle: 'medium' }));
    };
    return withCells(rows, policies, (policy) => [timeCell(textOf(policy, 'last_used_at')) ?? unused(policy)]);
  }, [rows, policies]);
}

/** Fills the last cells of each client with the object that declares it, and its last use. */
export function useClientCells(rows: readonly Row[]): readonly Row[] {
  const { say } = useUi();
  const { clients } = bodyOf(useFetched(apiPath`/Client/$usage`).answer);
  return useMemo(
    () =>
      withCells(rows, objectsOf(clients), (client) => [
        textOf(client, 'managed_by'),
        timeCell(textOf(client, 'previous_secret_last_used')) ?? '',
        timeCell(textOf(client, 'last_token_at')) ?? say.never,
      ]),
    [rows, clients],
  );
}

function timeCell(time: string): Cell | undefined {
  return time === '' ? undefined : { time };
}

/** Replaces the last cells of the rows whose records are known. */
function withCells(
  rows: readonly Row[],
  records: readonly JsonObject[],
  cellsOf: (record: JsonObject) => readonly Cell[],
): readonly Row[] {
  const known = new Map(records.map((record) => [textOf(record, 'id'), record]));
  return rows.map((row) => {
    const record = known.get(row.id);
    const cells = record === undefined ? [] : cellsOf(record);
    return { ...row, cells: [...row.cells.slice(0, row.cells.length - cells.length), ...cells] };
  });
}
