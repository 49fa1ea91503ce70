import type { OAuthServices } from '../../oauth/services.ts';
import type { Log } from '../../../program/log.ts';
import type { ByteBudget } from '../../shares/byte-budget.ts';
import type { FairQueue } from '../../shares/fair-queue.ts';
import type { InFlight } from '../../shares/in-flight.ts';
import type { DeviceTokens } from '../../credentials/device-token.ts';
import type { BoxAddressing, KnownBoxes } from '../request/box-address.ts';
import type { SecretLimits } from '../throttle/secret-guess.ts';
import type { PasswordLimits } from '../throttle/password-guess.ts';
import type { OnAnswer } from './send.ts';
import type { UiFiles } from '../ui/ui-files.ts';
import type { Throttle } from '../throttle/throttle.ts';

/** Dependencies of the handlers of the public port, given once when the app is created. */
export interface ApiContext {
  readonly oauth: OAuthServices;
  readonly addressing: BoxAddressing;
  readonly boxes: KnownBoxes;
  readonly throttle: Throttle;
  /** The bytes of bodies that the process holds for its callers. */
  readonly bodyBytes: ByteBudget;
  /** Long work on the event loop, one piece at a time. */
  readonly longWork: Pick<FairQueue, 'run'>;
  /** Requests that are being answered. */
  readonly inFlight: InFlight;
  readonly passwordLimits: PasswordLimits;
  readonly secretLimits: SecretLimits;
  readonly deviceTokens: DeviceTokens;
  readonly onAnswer: OnAnswer;
  /** Reads the files of the admin UI. Throws an Error if they cannot be built. */
  readonly uiFiles: () => Promise<UiFiles>;
  readonly log: Log;
  /** Checks whether a peer's forwarded headers are trusted. */
  readonly isTrustedProxy: (address: string) => boolean;
}
