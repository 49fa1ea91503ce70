import type { Manifest } from '../../../crds/manifest-schema.ts';
import type { GroupSpec } from '../../../crds/specs.ts';
import type { Adoption } from '../desired-state.ts';

/** Treatment of a row when its object appears and when it is deleted. */
export interface Lifecycle {
  /** Sort of existing row with its id that the object takes over. */
  readonly adopt: Adoption | undefined;
  /** True if its row stays, without an owner, when the object is deleted. */
  readonly retain: boolean;
  /** True if the data of its box are deleted with it. */
  readonly purge: boolean;
}

/** Shared by nearly every object: a row is deleted with its object, and another object's row is not taken over. */
export const deletedWithObject: Lifecycle = { adopt: undefined, retain: false, purge: false };
/** Nobody else can have created the row of a Box: one without an owner was retained when its kind was deleted. */
const ofBox: Lifecycle = { ...deletedWithObject, adopt: 'unowned' };
/** Default of a Group: its members are data, which no manifest that is added or removed may lose. */
const ofGroup: Lifecycle = { adopt: 'unowned', retain: true, purge: false };
const purging: Lifecycle = { ...ofBox, purge: true };

/**
 * Reads `adoption` and `deletionPolicy` (docs/guides/tenancy.md). Force takes over what IfUnowned does: the row of an
 * existing object is never taken, that of a deleted one is deleted with it, and one of another installation may be in
 * use.
 */
export function lifecycleOf({ kind, spec }: Manifest): Lifecycle {
  if (kind === 'Box') return spec.deletionPolicy === 'Delete' ? purging : ofBox;
  if (kind === 'Group') return lifecycleOfGroup(spec);
  const adopt = adoptionOf(spec.adoption);
  const retain = spec.deletionPolicy === 'Retain';
  return adopt !== undefined || retain ? { adopt, retain, purge: false } : deletedWithObject;
}

function lifecycleOfGroup({ adoption = 'IfUnowned', deletionPolicy = 'Retain' }: GroupSpec): Lifecycle {
  if (adoption === 'IfUnowned' && deletionPolicy === 'Retain') return ofGroup;
  return { adopt: adoptionOf(adoption), retain: deletionPolicy === 'Retain', purge: false };
}

function adoptionOf(adoption: 'Never' | 'IfUnowned' | 'Force' | undefined): Adoption | undefined {
  if (adoption === 'Force') return 'force';
  return adoption === 'IfUnowned' ? 'unowned' : undefined;
}
