import { objectKey, type Declared, type DeclaredSecret } from '../../operator/desired/declared.ts';
import { manifestBody, type ManifestNamespace, type ManifestObject } from '../../api/client/manifest/manifest-file.ts';

/** An object of a file as the reconciler reads it. Small: there may be twenty thousand. */
export class FileObject implements Declared {
  readonly key: string;
  readonly kind: ManifestObject['kind'];
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** Absolute path. */
  readonly file: string;
  readonly line: number;
  readonly #json: string;
  readonly #display: (file: string) => string;

  constructor(file: string, manifest: ManifestObject, generation: number, display: (file: string) => string) {
    this.key = objectKey(manifest);
    this.kind = manifest.kind;
    this.namespace = manifest.namespace;
    this.name = manifest.name;
    this.generation = generation;
    this.resourceVersion = manifest.version;
    this.file = file;
    this.line = manifest.line;
    this.#json = manifest.json;
    this.#display = display;
  }

  /** The age of an object in a folder is unknown: the first by name is considered the oldest. */
  readonly created = '';

  /** Objects in a folder have no identity except their name. */
  get uid(): string {
    return `${this.namespace}/${this.name}`;
  }

  get place(): string {
    return `${this.#display(this.file)}:${String(this.line)}`;
  }

  body(): unknown {
    return manifestBody(this, this.#json);
  }
}

/** A Secret of a file. */
export interface FileSecret extends DeclaredSecret {
  /** Absolute path. */
  readonly file: string;
  readonly line: number;
}

/** A Namespace of a file that sets quotas. */
export interface FileNamespace extends ManifestNamespace {
  /** Absolute path. */
  readonly file: string;
}

/** A file as last read. A file that has become unreadable keeps its earlier declarations. */
export interface DeclaredFile {
  readonly objects: readonly FileObject[];
  readonly secrets: readonly FileSecret[];
  readonly namespaces: readonly FileNamespace[];
}
