import type { Passwords } from '../credentials/password.ts';
import type { ResourceServices } from '../resources/services.ts';

/** What the services of users need of the process. */
export interface UserServices extends ResourceServices {
  readonly passwords: Passwords;
}
