/** Where archives are, and the SHA-512 of the one for each platform. */
export interface Published {
  readonly url: string;
  readonly sums: ReadonlyMap<string, string>;
}

/**
 * The archive of etcd, kube-apiserver and kubectl that the project controller-tools publishes for tests. Where it cannot
 * be had, the same minor version is built from the Go modules in modules/, whose go.sum pins every source.
 */
export const release = {
  version: 'v1.34.1',
  url: 'https://github.com/kubernetes-sigs/controller-tools/releases/download',
  /** SHA-512 by platform, from envtest-releases.yaml of that project. */
  sums: new Map([
    [
      'darwin-amd64',
      'd9e0464dc1708c36ab41147b5e364c8b8e201eafc14c299dcbe58ebeaa82c651b8e834647167a951ded8c6d08c616aadbae1673a54743f9c8fa15a278c78c0c0',
    ],
    [
      'darwin-arm64',
      '43d7c10b74100d20044df7c73be03e26f8243a9cb7c1d3035e581ee7bb0c7ffcaf759b9e182186b5bb2f47d1608835414ca443181a02d9ecb6c9cf04b43e3809',
    ],
    [
      'linux-amd64',
      'c5e7c237ae18a8c65d0df1214b864ecd19aa9ff4f1383dbd477c202546d778c0f74efe15750ec38f57d8de26ba17cd62f404446cdd3c975399a5d4589de35cdd',
    ],
    [
      'linux-arm64',
      'bf13d2456183e66d084e28e1c9eed6a408fb77a06d8d1fd0461a7d9bc0c90b63d29ea67870b28f80d1f992acb026007d6f43987753c859c81d6a78bc1ca2c903',
    ],
  ]),
} as const satisfies Published & { readonly version: string };

/** What the control plane is made of, and the Go package of each in its module. */
export const programs = [
  { name: 'etcd', module: 'etcd', source: 'go.etcd.io/etcd/server/v3' },
  { name: 'kube-apiserver', module: 'kubernetes', source: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  { name: 'kubectl', module: 'kubernetes', source: 'k8s.io/kubernetes/cmd/kubectl' },
] as const;

/**
 * What deletes the contents of a namespace, and what belongs to an object that is gone: nothing else does, so tests of that
 * need it too. It is in no archive that we know: always built.
 */
export const controllerManager = {
  name: 'kube-controller-manager',
  module: 'kubernetes',
  source: 'k8s.io/kubernetes/cmd/kube-controller-manager',
} as const;

/** A program of a control plane, and the Go package it is built from. */
export type Program = (typeof programs)[number] | typeof controllerManager;

/** The name of a program that every control plane has. */
export type ProgramName = (typeof programs)[number]['name'];
