import { CoreV1Api, CustomObjectsApi } from '@kubernetes/client-node';
import type { Collection } from '../../../operator/kube/client/list.ts';

/** Returns the collection at a path: of any kind with a group, or of the Secrets of a namespace. */
export function collectionAt(path: string): Collection {
  const box = /^\/api\/v1\/namespaces\/([^/]+)\/secrets$/.exec(path)?.[1];
  if (box !== undefined)
    return {
      plural: 'secrets',
      list: (make, query) => make(CoreV1Api).listNamespacedSecret({ namespace: box, ...query }),
    };
  const parts = /^\/apis\/([^/]+)\/([^/]+)\/(?:namespaces\/([^/]+)\/)?([^/]+)$/.exec(path);
  if (parts === null) throw new TypeError(`${path} is not the path of a collection`);
  const [, group = '', version = '', namespace, plural = ''] = parts;
  return {
    plural,
    list: (make, query) =>
      namespace === undefined
        ? make(CustomObjectsApi).listClusterCustomObject({ group, version, plural, ...query })
        : make(CustomObjectsApi).listNamespacedCustomObject({ group, version, namespace, plural, ...query }),
  };
}
