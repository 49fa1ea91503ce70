import { roleBindingCommand } from '../client/role-binding-command.ts';
import { missing, type MissingSecret } from '../../secrets/resolve.ts';

/** Returns why the Secrets of a namespace are unknown; `account` is the operator's, as `namespace:name`. */
export function secretForbidden(namespace: string, account: string): MissingSecret {
  const command = roleBindingCommand(namespace, account);
  return missing('SecretForbidden', `the operator has no rights on the Secrets of this namespace: ${command}`);
}

/** Returns that the Secrets of a namespace were not listed yet. */
export function secretNotRead(): MissingSecret {
  return missing('SecretNotRead', 'the Secrets of this namespace could not be read yet');
}
