import type { OAuthServices } from '../oauth/services.ts';
import type { Log } from '../../process/log.ts';
import type { BoxAddressing } from './box-address.ts';
import type { KnownBoxes } from './known-boxes.ts';
import type { OnAnswer } from './send.ts';
import type { Throttle } from './throttle.ts';

/** What the handlers of the public port need: given once, when the app is made. */
export interface ApiContext {
  readonly oauth: OAuthServices;
  readonly addressing: BoxAddressing;
  readonly boxes: KnownBoxes;
  readonly throttle: Throttle;
  readonly onAnswer: OnAnswer;
  readonly log: Log;
  /** Whether a peer's forwarded headers are believed. */
  readonly isTrustedProxy: (address: string) => boolean;
}
