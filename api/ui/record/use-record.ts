import { useEffect, useState } from 'preact/hooks';
import { isObject } from '../../../crds/json-value.ts';
import type { JsonObject } from '../../../crds/json-value.ts';
import type { Answer } from '../connection/answer.ts';
import { faultsIn } from '../connection/faults.ts';
import type { Faults } from '../connection/faults.ts';
import { useUi } from '../context.ts';
import { inOwnLanguage } from '../connection/own-language.ts';
import type { RecordKind } from './record-kind.ts';

/** A record as it was read. */
export interface Loaded {
  readonly record: JsonObject;
  readonly etag: string | undefined;
  /** The custom resource that declares it, as `<namespace>/<name>`. */
  readonly managedBy: string | undefined;
}

/** An answer that a form reports, and the request that it answers. */
export interface Refusal {
  readonly answer: Answer;
  readonly method: string;
}

/** A record in a form. */
export interface EditedRecord<Draft> {
  readonly loaded: Loaded | undefined;
  readonly draft: Draft;
  readonly isChanged: boolean;
  readonly isBusy: boolean;
  readonly faults: Faults;
  readonly refusal: Refusal | undefined;
  /** The record as others have stored it meanwhile (412). */
  readonly conflict: Loaded | undefined;
  readonly change: (draft: Draft) => void;
  readonly discard: () => void;
  readonly reload: () => void;
  /** Resolves with the stored record; undefined if it was not stored. */
  readonly save: () => Promise<JsonObject | undefined>;
  /** Stores the text as a new record, because the old one is gone; resolves as `save`. */
  readonly createAgain: () => Promise<JsonObject | undefined>;
  /** Resolves with true if the record is deleted. */
  readonly remove: () => Promise<boolean>;
  /** Ends a conflict: with the user's text over the stored record, or with the stored record. */
  readonly settle: (choice: 'mine' | 'stored') => void;
}

interface State {
  readonly loaded: Loaded | undefined;
  readonly conflict: Loaded | undefined;
  readonly faults: Faults;
  readonly refusal: Refusal | undefined;
  readonly isBusy: boolean;
}

const initial: State = { loaded: undefined, conflict: undefined, faults: {}, refusal: undefined, isBusy: false };

/** Reads a record into a form, and saves it under the version that was read; `id` is undefined for a new record. */
export function useRecord<Draft>(kind: RecordKind<Draft>, id: string | undefined): EditedRecord<Draft> {
  const { say, request, drafts } = useUi();
  const [state, setState] = useState(initial);
  const [attempt, setAttempt] = useState(0);
  const [, setTyped] = useState(0);
  const path = id === undefined ? kind.path : `${kind.path}/${encodeURIComponent(id)}`;
  const stored = state.loaded === undefined ? kind.empty : kind.read(state.loaded.record);
  const typed = draftOf(drafts, path, kind);
  const draft = typed ?? stored;
  const merge = (some: Partial<State>): void => {
    setState((last) => ({ ...last, ...some }));
  };

  useEffect(() => {
    setState(initial);
    if (id === undefined) return undefined;
    const controller = new AbortController();
    read(controller.signal).catch(() => undefined);
    return () => {
      controller.abort();
    };
  }, [path, attempt]);

  async function read(signal?: AbortSignal): Promise<void> {
    const { answer, loaded } = await fetchRecord(signal);
    merge(loaded === undefined ? { refusal: { answer, method: 'GET' } } : { loaded, refusal: undefined });
  }

  async function fetchRecord(signal?: AbortSignal) {
    const answer = await request({ method: 'GET', path, ...(signal && { signal }) });
    return { answer, loaded: loadedFrom(answer) };
  }

  function forget(): void {
    drafts.delete(path);
    setTyped((count) => count + 1);
  }

  /** Reports a refusal: faults next to their fields, a conflict with both versions, the rest in one place. */
  async function report(answer: Answer, method: string): Promise<void> {
    if (answer.kind === 'refused' && answer.status === 412 && id !== undefined) {
      const now = await fetchRecord();
      merge(now.loaded ? { conflict: now.loaded } : { refusal: { answer: now.answer, method: 'GET' } });
    } else if (answer.kind === 'refused' && answer.status !== 403 && answer.status !== 404) {
      merge({ faults: inOwnLanguage(faultsIn(answer.body), say) });
    } else merge({ refusal: { answer, method } });
  }

  async function change(method: 'POST' | 'PUT' | 'DELETE', body?: string): Promise<JsonObject | undefined> {
    merge({ isBusy: true, faults: {}, refusal: undefined });
    const target = method === 'POST' ? { path: kind.path } : { path, etag: state.loaded?.etag };
    const answer = await request({ method, ...target, ...(body !== undefined && { body }) });
    merge({ isBusy: false });
    if (answer.kind !== 'done') {
      await report(answer, method);
      return undefined;
    }
    forget();
    const loaded = loadedFrom(answer);
    const isStored = method === 'PUT' || (method === 'POST' && id !== undefined);
    if (loaded !== undefined && isStored) merge({ loaded, conflict: undefined });
    return isObject(answer.body) ? answer.body : {};
  }

  async function send(method: 'POST' | 'PUT', record: JsonObject | undefined): Promise<JsonObject | undefined> {
    const faults = kind.check?.(draft, say) ?? {};
    if (Object.keys(faults).length === 0) return change(method, kind.body(draft, record));
    merge({ faults });
    return undefined;
  }

  return {
    ...state,
    draft,
    isChanged: typed !== undefined && JSON.stringify(typed) !== JSON.stringify(stored),
    change: (next) => {
      drafts.set(path, next);
      setTyped((count) => count + 1);
    },
    discard: forget,
    reload: () => {
      setAttempt(attempt + 1);
    },
    save: () => send(id === undefined ? 'POST' : 'PUT', state.loaded?.record),
    createAgain: () => send('POST', undefined),
    remove: async () => (await change('DELETE')) !== undefined,
    settle: (choice) => {
      if (choice === 'stored') forget();
      merge({ loaded: state.conflict, conflict: undefined });
    },
  };
}

/** Returns the typed text of a record. The map holds what {@link useRecord} put there for the same path. */
function draftOf<Draft>(drafts: Map<string, unknown>, path: string, kind: RecordKind<Draft>): Draft | undefined {
  const draft = drafts.get(path);
  return kind.isDraft(draft) ? draft : undefined;
}

function loadedFrom(answer: Answer): Loaded | undefined {
  if (answer.kind !== 'done' || !isObject(answer.body)) return undefined;
  const { headers, body } = answer;
  return {
    record: body,
    etag: headers.get('ETag') ?? undefined,
    managedBy: headers.get('X-Managed-By') ?? undefined,
  };
}
