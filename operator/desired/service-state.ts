/** State of the Service `boxgate` in the namespace of a box, by which pods of the cluster reach the box. */
export type ServiceState =
  | { readonly state: 'ready' }
  | {
      readonly state: 'missing';
      readonly reason: 'ServiceForbidden' | 'ServiceNotOwned' | 'ServiceRefused';
      readonly message: string;
    };

/** Checks whether two states say the same. */
export function isSameService(one: ServiceState | undefined, other: ServiceState | undefined): boolean {
  if (one?.state !== 'missing' || other?.state !== 'missing') return one?.state === other?.state;
  return one.reason === other.reason && one.message === other.message;
}
