import type { Passwords } from '../credentials/password.ts';
import type { ResourceServices } from '../records/services.ts';

/** Dependencies of the services of users. */
export interface UserServices extends ResourceServices {
  readonly passwords: Passwords;
}
