import type { Environment } from '../../../../process/environment.ts';
import type { RightsScene } from './rights-scene.ts';

/** A right and its purpose: something that fails without it, and succeeds as soon as it is granted again. */
export interface RightCase {
  /** Description of what breaks, as the end of a sentence. */
  readonly breaks: string;
  /** Settings of the operator beside those of every case. */
  readonly environment?: Environment;
  /** Done while the operator has the right. */
  readonly prepare?: (scene: RightsScene) => Promise<void>;
  /** Makes the operator need the right; done after it was taken. */
  readonly provoke: (scene: RightsScene) => Promise<void>;
  /**
   * Checks whether the operator reports the failure; by default, in a log line that names the verb and the resource.
   */
  readonly shows?: (scene: RightsScene) => Promise<boolean>;
  /** Checks whether the result that needs the right is there. */
  readonly wanted: (scene: RightsScene) => Promise<boolean>;
}
