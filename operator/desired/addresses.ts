/** Name of the Service that leads to a box, in the namespace of the box. */
export const BOX_SERVICE = 'boxgate';
/** Name of the API's own Service, in the namespace of the installation. */
const API_SERVICE = 'boxgate-api';

/** Facts about an installation that the addresses inside its cluster consist of. */
export interface InstallationAddress {
  /** Namespace of the installation. */
  readonly namespace: string;
  /** Domain of the cluster's Services, such as `cluster.local`. */
  readonly clusterDomain: string;
  /** True if the public port serves TLS: its certificate names only the API's own Service. */
  readonly publicTls: boolean;
}

/** Addresses of the boxes of an installation inside its cluster. */
export interface InClusterAddresses {
  /** DNS name of the API's own Service, which the Service of a box is an alias of. */
  readonly apiService: string;
  /** Returns the token URL of a box for the pods of the cluster. */
  readonly tokenUrl: (box: string) => string;
  /** Returns the token URL that works without the Service in the namespace of the box. */
  readonly directTokenUrl: (box: string) => string;
}

/** Returns the addresses inside the cluster. With TLS both URLs are the same, and no box needs a Service. */
export function inClusterAddresses({ namespace, clusterDomain, publicTls }: InstallationAddress): InClusterAddresses {
  const scheme = publicTls ? 'https' : 'http';
  const directTokenUrl = (box: string): string => `${scheme}://${API_SERVICE}.${namespace}.svc/boxes/${box}/auth/token`;
  return {
    apiService: `${API_SERVICE}.${namespace}.svc.${clusterDomain}`,
    tokenUrl: publicTls ? directTokenUrl : (box) => `http://${BOX_SERVICE}.${box}.svc/auth/token`,
    directTokenUrl,
  };
}
