import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { Answer, ApiRequest } from './connection/answer.ts';
import type { Messages } from './messages/messages.ts';
import type { KeptText } from './record/loaded.ts';

/** A message about something that was done; an `undo` is offered for ten seconds. */
export interface Notice {
  readonly text: string;
  readonly undo?: () => Promise<void>;
}

/** Parts of the UI that every tab uses. */
export interface Ui {
  readonly say: Messages;
  /** Language of dates and numbers, such as `de`. */
  readonly language: string;
  /** ID of the box. */
  readonly box: string;
  /** The name of the box for people. */
  readonly name: string;
  readonly issuer: string;
  /** Folder of the manifests that declare records; '': custom resources declare them. */
  readonly folder: string;
  /** ID of the signed-in user; '' if unknown. */
  readonly user: string;
  /** Email of the signed-in user; '' if unknown. */
  readonly email: string;
  /** Tabs whose lists the user may read. */
  readonly rights: ReadonlySet<string>;
  readonly request: (request: ApiRequest) => Promise<Answer>;
  readonly notify: (notice: Notice) => void;
  /** Typed text that is not saved, by record: it stays while other records and tabs are shown. */
  readonly drafts: Map<string, KeptText>;
  /** Secrets that were made on this page and not put away, by client. */
  readonly secrets: Map<string, string>;
}

/** The context of {@link useUi}. */
export const UiContext = createContext<Ui | undefined>(undefined);

/** Returns the parts of the UI. Throws a TypeError outside of it. */
export function useUi(): Ui {
  const ui = useContext(UiContext);
  if (ui === undefined) throw new TypeError('a component outside of the UI');
  return ui;
}

/** Sets the title of the page to a heading and the name of the box (WCAG 2.4.2); undefined leaves it unchanged. */
export function usePageTitle(heading: string | undefined): void {
  const { name } = useUi();
  useEffect(() => {
    if (heading !== undefined) document.title = `${heading} · ${name}`;
  }, [heading, name]);
}
