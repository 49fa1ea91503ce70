import type { JSX } from 'preact';
import type { JsonObject } from '../../../crds/path.ts';
import type { ApiRequest, Faults } from '../connection/answer.ts';
import type { ApiPath } from '../connection/api-path.ts';
import type { Ui } from '../context.ts';
import type { Messages } from '../messages/messages.ts';
import type { RowSource } from '../rows/row-source.ts';
import type { Loaded } from './loaded.ts';

/** Properties of the fields of a form. */
export interface FieldsProps<Draft> {
  readonly draft: Draft;
  readonly change: (draft: Draft) => void;
  readonly faults: Faults;
  /** True for a record that a custom resource declares. */
  readonly readOnly: boolean;
  readonly isNew: boolean;
  /** The view that is open; `form` where the kind has no other. */
  readonly view: View;
}

/** Views of a record: its form, its text, its manifest. */
export type View = 'form' | 'json' | 'yaml';

/** Properties of what a record shows besides its form. */
export interface OverviewProps {
  readonly loaded: Loaded;
  /** Takes the record as a request of the overview has stored it. */
  readonly replace: (loaded: Loaded) => void;
}

/** A field of a record as the difference of two versions shows it. */
export interface ShownField {
  readonly label: string;
  readonly text: string;
}

/** Properties of what stands below the form of a stored record. */
export interface BelowProps {
  readonly record: JsonObject;
  /** To be called with the record when it was changed there. */
  readonly changed: (record: JsonObject) => void;
  /** Takes the record as a request has stored it. */
  readonly replace: (loaded: Loaded) => void;
}

/** A kind of record that can be created, changed and deleted. */
export interface RecordKind<Draft> {
  /** Name of its custom resource, such as `Group`; '' for records that cannot be declared. */
  readonly resource: string;
  /** Path of the collection, such as `/Group`. */
  readonly path: ApiPath;
  readonly source: RowSource;
  readonly empty: Draft;
  /** Checks whether a value is typed text of such a record. */
  readonly isDraft: (value: unknown) => value is Draft;
  /** Returns the content of a record as a form shows it. */
  readonly read: (record: JsonObject) => Draft;
  /** Returns the body of a POST or PUT; `record` is undefined for a new record. */
  readonly body: (draft: Draft, record: JsonObject | undefined) => string;
  /** Returns the faults for which a record is not sent. */
  readonly check?: (draft: Draft, say: Messages) => Faults;
  /** Names of the fields whose faults the form shows next to them; those of an entry of a list are below its name. */
  readonly fields: readonly string[];
  readonly Fields: (props: FieldsProps<Draft>) => JSX.Element;
  /** Absent: the form alone. */
  readonly views?: readonly View[];
  /** Shown above the form of a stored record. */
  readonly Overview?: (props: OverviewProps) => JSX.Element;
  /** Shown below the form of a stored record. */
  readonly Below?: (props: BelowProps) => JSX.Element;
  /** Called with what was sent to create a record. */
  readonly created?: (body: string, record: JsonObject, ui: Ui) => void;
  readonly show: (draft: Draft, say: Messages) => readonly ShownField[];
  /** Returns the request that restores a deleted record completely; undefined if there is none. */
  readonly restore: (record: JsonObject) => ApiRequest | undefined;
}
