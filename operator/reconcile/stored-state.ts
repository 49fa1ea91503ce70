import type { RowName } from '../../api/client/desired-state.ts';
import type { Fault } from '../../crds/fault.ts';
import type { Identity } from '../desired/declared.ts';
import type { Refusal } from '../status/reconcile-result.ts';

/** A row of this cluster in the database. */
export interface KnownRow extends RowName {
  /** The object itself if it is known, otherwise its names and uid. */
  readonly declarer: Identity;
  /** Undefined when only the row's existence is known. */
  readonly digest: string | undefined;
  /** True if the row stays, without an owner, when its object is deleted. */
  readonly retain: boolean;
  /** Faults of parts without effect: a policy's rule (it grants nothing), a client's `jwks_uri`, a Box's hosts. */
  readonly faults: readonly Fault[];
}

/** State of a box in the database, as the API has last told it. Everybody may read it; only its methods change it. */
export class StoredState {
  #rows = new Map<string, KnownRow>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #undeclaredLinks = new Map<string, boolean>();
  #quota = '{}';
  #isSynced = false;
  #isKnown = false;

  /** By row key: the rows of this cluster. */
  get rows(): ReadonlyMap<string, KnownRow> {
    return this.#rows;
  }

  /** By object key: the last refusal of an object. */
  get refusals(): ReadonlyMap<string, Refusal> {
    return this.#refusals;
  }

  /** By row key: true if a resource exists that a policy links and nobody here declares. */
  get undeclaredLinks(): ReadonlyMap<string, boolean> {
    return this.#undeclaredLinks;
  }

  /** Quotas last sent to the API, as JSON. */
  get quota(): string {
    return this.#quota;
  }

  /** True if `rows` matches the database, as far as anybody can know. Otherwise the next pass compares everything. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** True once the rows were read: before, a missing row says nothing. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Notes all rows, as they were just read. */
  replaceRows(rows: Map<string, KnownRow>): void {
    this.#rows = rows;
    this.#isSynced = true;
    this.#isKnown = true;
  }

  /** Notes that the rows may have changed: the next pass compares everything. */
  markUnsynced(): void {
    this.#isSynced = false;
  }

  /** Notes the row of an object that the API has just applied. */
  setApplied(objectKey: string, rowKey: string, row: KnownRow): void {
    this.#rows.set(rowKey, row);
    this.#refusals.delete(objectKey);
  }

  /** Notes that this cluster has no such row any more. */
  deleteRow(rowKey: string): void {
    this.#rows.delete(rowKey);
  }

  /** Notes the refusal of an object. */
  setRefusal(objectKey: string, refusal: Refusal): void {
    this.#refusals.set(objectKey, refusal);
  }

  /** Forgets a refusal, so that the object is sent again. */
  deleteRefusal(objectKey: string): void {
    this.#refusals.delete(objectKey);
  }

  /** Notes whether a resource exists that nobody here declares; undefined: that is unknown. */
  setUndeclaredLink(rowKey: string, exists: boolean | undefined): void {
    if (exists === undefined) this.#undeclaredLinks.delete(rowKey);
    else this.#undeclaredLinks.set(rowKey, exists);
  }

  /** Forgets all resources that nobody here declares, so that they are requested again. */
  forgetUndeclaredLinks(): void {
    this.#undeclaredLinks.clear();
  }

  /** Notes the quotas that the API was sent, as JSON. */
  setQuota(quota: string): void {
    this.#quota = quota;
  }
}
