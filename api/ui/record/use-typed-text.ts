import { useState } from 'preact/hooks';
import { recordPath } from '../connection/api-path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import { textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { KeptText, Loaded } from './loaded.ts';
import type { RecordKind } from './record-kind.ts';

/** Text of one record that is typed and not saved. */
export interface TypedText<Draft> {
  /** Returns the text of this moment, and the version of the record that it began from. */
  readonly now: () => (KeptText & { readonly draft: Draft }) | undefined;
  readonly keep: (draft: Draft, base: Loaded | undefined) => void;
  readonly forget: () => void;
  /** Forgets what was saved. Fields that were changed since then stay as text of the record that is stored now. */
  readonly forgetSaved: (sent: Draft, stored: Loaded) => void;
}

/** Keeps the typed text of the record at a path while other records and tabs are shown. */
export function useTypedText<Draft extends object>(kind: RecordKind<Draft>, path: ApiPath): TypedText<Draft> {
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
