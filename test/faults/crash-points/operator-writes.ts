import type { Write } from './write-log.ts';

/** What a request writes into the cluster. */
export function kubernetesWrite(method: string, path: string): Write {
  const { pathname } = new URL(path, 'https://kubernetes');
  const box = /\/namespaces\/([^/]+)\//.exec(pathname)?.[1];
  const isLease = pathname.includes('/leases');
  // Events have random names.
  const what = `${method} ${pathname.replace(/(\/events)\/.*/, '$1/*')}`;
  return { what, box: isLease ? undefined : box, ...(isLease ? { isPeriodic: true } : {}) };
}

/** What a request asks of the management port. */
export function managementWrite(method: string, path: string): Write {
  const { pathname } = new URL(path, 'http://management');
  return { what: `${method} ${pathname}`, box: /^\/boxes\/([^/]+)\//.exec(pathname)?.[1] };
}
