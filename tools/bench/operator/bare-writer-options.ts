import { isObject } from '../../../crds/json-value.ts';

/** A write that an operator makes for an object. */
export type BareWrite = 'secret' | 'finalizer' | 'status';

/** Work of a bare writer. */
export interface BareWork {
  /** Lists and watches these. */
  readonly paths: readonly string[];
  /** For each object, one after the other. */
  readonly writes: readonly BareWrite[];
  /** By kind: the status it writes. */
  readonly status: Readonly<Record<string, unknown>>;
  /** So many objects at a time. */
  readonly lanes: number;
}

/** Reads what {@link BareWork} was written as. */
export function bareWriterOptions(value: unknown): BareWork {
  if (!isObject(value) || !Array.isArray(value['paths']) || !Array.isArray(value['writes'])) throw new Error('no work');
  const writes = value['writes'].map((write: unknown): BareWrite => {
    if (write === 'secret' || write === 'finalizer' || write === 'status') return write;
    throw new Error(`no such write: ${String(write)}`);
  });
  const status = isObject(value['status']) ? value['status'] : {};
  return { paths: value['paths'].map(String), writes, status, lanes: Number(value['lanes']) };
}
