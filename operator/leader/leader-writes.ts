import type { Management } from '../../api/client/management.ts';
import { LeadershipLost } from './election.ts';
import type { KubeApi } from '../kube/client/kube-api.ts';

/** Returns the Kubernetes API for a leader: no write starts once it no longer leads. Throws LeadershipLost then. */
export function writesOfLeader(api: KubeApi, leads: () => boolean): KubeApi {
  return {
    ...api,
    async call(call, signal) {
      if (call.method !== undefined && call.method !== 'GET') demand(leads);
      return api.call(call, signal);
    },
  };
}

/**
 * Returns the API for a leader: these calls do not start once it no longer leads. Calls under an epoch are also fenced;
 * the claim of an epoch, which would fence the next leader, is not.
 */
export function callsOfLeader(management: Management, leads: () => boolean): Management {
  return {
    ...management,
    async claimEpoch(...claim) {
      demand(leads);
      return management.claimEpoch(...claim);
    },
    async putHosts(...call) {
      demand(leads);
      return management.putHosts(...call);
    },
    async apply(...call) {
      demand(leads);
      return management.apply(...call);
    },
  };
}

function demand(leads: () => boolean): void {
  if (!leads()) throw new LeadershipLost('this replica leads no more');
}
