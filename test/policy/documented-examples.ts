import { parse } from 'yaml';
import { isList, isObject } from '../../crds/path.ts';
import { ownMember } from '../../api/policy/json-value.ts';
import type { Subject } from '../../api/policy/policy-index.ts';
import type { RequestObject } from '../../api/policy/request-object.ts';

/** A policy on a page, as YAML, with the requests of the table that follows it. */
export interface Example {
  readonly source: string;
  readonly rows: readonly { readonly request: string; readonly answer: string }[];
}

/** Returns each block of YAML of a page with the table of requests that follows it. */
export function examplesIn(page: string): Example[] {
  return [...page.matchAll(/```yaml\n([^]*?)```([^]*?)(?=```|\n#|$)/g)].map(([, source = '', after = '']) => ({
    source,
    rows: tableRows('| request | answer |', after).map(([request = '', answer = '']) => ({
      request: code(request),
      answer,
    })),
  }));
}

/** Returns the cells of the table with this head, row by row; none if the text has no such table. */
export function tableRows(head: string, text: string): string[][] {
  const at = text.indexOf(head);
  if (at < 0) return [];
  const lines = text.slice(at).split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end < 0 ? undefined : end).map((line) => line.slice(2, -2).split(' | '));
}

/** Returns `x` without its backticks. */
export function code(cell: string): string {
  return cell.replace(/^`(.*)`$/, '$1');
}

/** Returns the resource of an example, which may be shown as a custom resource. */
export function resourceIn(source: string): unknown {
  const manifest: unknown = parse(source);
  const spec = ownMember(manifest, 'spec');
  return isObject(spec) ? { id: ownMember(ownMember(manifest, 'metadata'), 'name'), ...spec } : manifest;
}

/** Returns the subject of a request. */
export function subjectOf({ client, user }: RequestObject): Subject {
  const groups = ownMember(user, 'groups');
  const named = isList(groups) ? groups : [];
  return {
    client: text(ownMember(client, 'id')),
    user: user && {
      id: text(ownMember(user, 'id')),
      groupIds: named.map((group) => text(ownMember(group, 'id'))),
      groupNames: named.map((group) => text(ownMember(group, 'name'))),
    },
  };
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
