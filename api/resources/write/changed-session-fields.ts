import { isObject } from '../../../crds/json-value.ts';
import { differingFields } from './changed-fields.ts';
import { sessionElements } from './session-view.ts';
import type { SessionView } from '../../schemas/session.ts';

/** Returns the names of the fields of a session that a request would change; a non-object changes none. */
export function changedSessionFields(present: SessionView, wished: unknown): readonly string[] {
  return isObject(wished) ? differingFields(present, wished, sessionElements) : [];
}
