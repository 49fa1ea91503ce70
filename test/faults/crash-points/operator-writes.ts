import type { Write } from './write-log.ts';

/** Returns the write of a request to the cluster. */
export function kubernetesWrite(method: string, path: string): Write {
  const { pathname } = new URL(path, 'https://kubernetes');
  const box = /\/namespaces\/([^/]+)\//.exec(pathname)?.[1];
  const isLease = pathname.includes('/leases');
  // Events have random names.
  const what = `${method} ${pathname.replace(/(\/events)\/.*/, '$1/*')}`;
  return { what, box: isLease ? undefined : box, ...(isLease ? { isPeriodic: true } : {}) };
}

/** Returns the write of a request to the management port. */
export function managementWrite(method: string, path: string): Write {
  const { pathname } = new URL(path, 'http://management');
  return { what: `${method} ${pathname}`, box: /^\/boxes\/([^/]+)\//.exec(pathname)?.[1] };
}
