import { useEffect, useState } from 'preact/hooks';
import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import type { Answer, Faults } from '../connection/answer.ts';
import { recordPath } from '../connection/api-path.ts';
import { faultsIn } from '../connection/answer.ts';
import { useUi } from '../context.ts';
import { inOwnLanguage } from '../connection/own-language.ts';
import { isNewer, loadedFrom } from './loaded.ts';
import type { Loaded, KeptText } from './loaded.ts';
import type { RecordKind } from './record-kind.ts';
import type { ApiPath } from '../connection/api-path.ts';
import { textOf } from '../connection/members.ts';

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
  /** The record as others have stored it since the text began (412, or found when the record is read again). */
  readonly conflict: Loaded | undefined;
  readonly change: (draft: Draft) => void;
  readonly discard: () => void;
  readonly reload: () => void;
  /** Takes the record as another request has stored it. */
  readonly replace: (loaded: Loaded) => void;
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
export function useRecord<Draft extends object>(kind: RecordKind<Draft>, id: string | undefined): EditedRecord<Draft> {
  const ui = useUi();
  const { say, request } = ui;
  const [state, setState] = useState(initial);
  const [attempt, setAttempt] = useState(0);
  const path = id === undefined ? kind.path : recordPath(kind.path, id);
  const typed = useTypedText(kind, path);
  const stored = storedText(kind, state.loaded);
  const draft = typed.now()?.draft ?? stored;
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
    if (loaded === undefined) merge({ loaded: typed.now()?.base, refusal: { answer, method: 'GET' } });
    else merge(underText(kind, typed, loaded));
  }

  async function fetchRecord(signal?: AbortSignal) {
    const answer = await request({ method: 'GET', path, ...(signal && { signal }) });
    return { answer, loaded: loadedFrom(answer) };
  }

  /** Reports a refusal: faults next to their fields, a conflict with both versions, the rest in one place. */
  async function report(answer: Answer, method: string): Promise<void> {
    if (answer.kind === 'refused' && answer.status === 412 && id !== undefined) {
      const now = await fetchRecord();
      merge(now.loaded ? { conflict: now.loaded } : { refusal: { answer: now.answer, method: 'GET' } });
      return;
    }
    const faults = answer.kind === 'refused' && ![403, 404].includes(answer.status) ? faultsIn(answer.body) : {};
    if (Object.keys(faults).length > 0) merge({ faults: inOwnLanguage(faults, say) });
    else merge({ refusal: { answer, method } });
  }

  async function change(method: 'POST' | 'PUT' | 'DELETE', body?: string): Promise<JsonObject | undefined> {
    merge({ isBusy: true, faults: {}, refusal: undefined });
    const target = method === 'POST' ? { path: kind.path } : { path, etag: state.loaded?.etag };
    const answer = demandRecord(method, await request({ method, ...target, ...(body !== undefined && { body }) }));
    merge({ isBusy: false });
    if (answer.kind !== 'done') {
      await report(answer, method);
      return undefined;
    }
    const loaded = loadedFrom(answer);
    if (method === 'DELETE' || loaded === undefined) {
      typed.forget();
      return loaded?.record ?? {};
    }
    typed.forgetSaved(draft, loaded);
    if (id !== undefined) merge({ loaded, conflict: undefined });
    if (method === 'POST' && body !== undefined) kind.created?.(body, loaded.record, ui);
    return loaded.record;
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
    isChanged: !isSame(draft, stored),
    change: (next) => {
      typed.keep(next, state.loaded);
    },
    discard: typed.forget,
    replace: (loaded) => {
      merge({ loaded });
    },
    reload: () => {
      setAttempt(attempt + 1);
    },
    save: () => send(id === undefined ? 'POST' : 'PUT', state.loaded?.record),
    createAgain: () => send('POST', undefined),
    remove: async () => (await change('DELETE')) !== undefined,
    settle: (choice) => {
      if (choice === 'stored') typed.forget();
      else typed.keep(draft, state.conflict);
      merge({ loaded: state.conflict, conflict: undefined });
    },
  };
}

/** Returns the content of a record as its form shows it; that of a new one if there is none. */
function storedText<Draft>(kind: RecordKind<Draft>, loaded: Loaded | undefined): Draft {
  return loaded === undefined ? kind.empty : kind.read(loaded.record);
}

/** Returns the record under a kept text: in conflict if others have changed what the form shows since it began. */
function underText<Draft>(kind: RecordKind<Draft>, typed: TypedText<Draft>, loaded: Loaded): Partial<State> {
  const kept = typed.now();
  if (kept === undefined || !isNewer(loaded, kept.base)) return { loaded };
  const began = storedText(kind, kept.base);
  const isTyped = !isSame(kept.draft, began);
  if (isTyped && !isSame(began, kind.read(loaded.record))) return { loaded: kept.base, conflict: loaded };
  if (isTyped) typed.keep(kept.draft, loaded);
  else typed.forget();
  return { loaded };
}

/** Returns an answer; one to a POST or PUT that has no record is not the API's. */
function demandRecord(method: string, answer: Answer): Answer {
  if (answer.kind !== 'done' || method === 'DELETE' || isObject(answer.body)) return answer;
  return { kind: 'unreadable', status: answer.status };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Text of one record that is typed and not saved. */
interface TypedText<Draft> {
  /** Returns the text of this moment, and the version of the record that it began from. */
  readonly now: () => (KeptText & { readonly draft: Draft }) | undefined;
  readonly keep: (draft: Draft, base: Loaded | undefined) => void;
  readonly forget: () => void;
  /** Forgets what was saved. Fields that were changed since then stay as text of the record that is stored now. */
  readonly forgetSaved: (sent: Draft, stored: Loaded) => void;
}

/** Keeps the typed text of the record at a path while other records and tabs are shown. */
function useTypedText<Draft extends object>(kind: RecordKind<Draft>, path: ApiPath): TypedText<Draft> {
  const { drafts } = useUi();
  const [, setChanges] = useState(0);
  const changed = (): void => {
    setChanges((count) => count + 1);
  };
  /** The map holds what was put there for the same path, which is of the same kind. */
  const now = () => {
    const { draft, base } = drafts.get(path) ?? {};
    return kind.isDraft(draft) ? { draft, base } : undefined;
  };
  return {
    now,
    keep: (draft, base) => {
      drafts.set(path, { draft, base });
      changed();
    },
    forget: () => {
      drafts.delete(path);
      changed();
    },
    forgetSaved: (sent, stored) => {
      const typed = now();
      drafts.delete(path);
      const later = typed === undefined ? undefined : typedSince(typed.draft, sent, kind.read(stored.record));
      if (later !== undefined && kind.isDraft(later)) {
        // A new record has a path of its own now.
        drafts.set(recordPath(kind.path, textOf(stored.record, 'id')), { draft: later, base: stored });
      }
      changed();
    },
  };
}

/** Returns the stored fields under those that were changed after they were sent; undefined if there are none. */
function typedSince(typed: object, sent: object, stored: object): object | undefined {
  const before = new Map<string, unknown>(Object.entries(sent));
  const later = Object.entries(typed).filter(([field, value]) => before.get(field) !== value);
  return later.length === 0 ? undefined : { ...stored, ...Object.fromEntries(later) };
}
