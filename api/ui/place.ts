import { useEffect, useState } from 'preact/hooks';
import { TABS } from './messages/messages.ts';
import type { Tab } from './messages/messages.ts';

/**
 * The part of the UI that is shown, as the fragment of its address says: `#/groups/3`, and `#/groups/+` for a new
 * record.
 */
export interface Place {
  readonly tab: Tab;
  readonly id: string | undefined;
  readonly isNew: boolean;
}

/** Reads a fragment; an unknown one is the first tab. */
function readPlace(fragment: string): Place {
  const [, name, id = ''] = fragment.split('/');
  const tab = TABS.find((one) => one === name) ?? 'home';
  if (id === '+') return { tab, id: undefined, isNew: true };
  return { tab, id: id === '' ? undefined : decoded(id), isNew: false };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the fragment of a tab, or of a record in it; `+` is a new one. */
export function fragmentOf(tab: Tab, id?: string): string {
  if (id === undefined) return `#/${tab}`;
  return `#/${tab}/${id === '+' ? id : encodeURIComponent(id)}`;
}

/** Returns what the address says, and follows it. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => readPlace(location.hash));
  useEffect(() => {
    const follow = (): void => {
      setPlace(readPlace(location.hash));
    };
    addEventListener('hashchange', follow);
    return () => {
      removeEventListener('hashchange', follow);
    };
  }, []);
  return place;
}

/** Goes to a tab, or to a record in it. */
export function goTo(tab: Tab, id?: string): void {
  location.hash = fragmentOf(tab, id);
}
