/** The name of this platform in names of archives: `linux-amd64`. */
export function platformName(): string {
  return `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
}

/** Location of archives, and the SHA-512 of the one for each platform. */
export interface Published {
  readonly url: string;
  readonly sums: ReadonlyMap<string, string>;
}

/**
 * The archive of etcd, kube-apiserver and kubectl that the project controller-tools publishes for tests. Where it
 * cannot be had, the same minor version is built from the Go modules in modules/, whose go.sum pins every source.
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

/** The archive of the programs of a Kubernetes server. */
export interface PublishedServer extends Published {
  readonly version: string;
}

/**
 * The archive that holds kube-controller-manager; there is none for macOS. Its SHA-512 is from CHANGELOG-1.34.md of
 * Kubernetes.
 */
export const serverRelease = {
  version: 'v1.34.7',
  url: 'https://dl.k8s.io',
  sums: new Map([
    [
      'linux-amd64',
      'baaf8dd4ff110a384e9dfe3db54a85a04223074fd13da32a38f9883a12b93bcd26ae4d666bbc2f37724f0a6631f3d2e4ddb97caaf909906711a824afd70cec81',
    ],
    [
      'linux-arm64',
      '06fa3ac02fa8e90f406d2a054c85d11ad8e323b70aaf158acc0e68da3296490168ec2c7ee6f61bf4e3b14adad5f33f62feeeaf5974b9417b2d34a771e013d4f3',
    ],
  ]),
} as const satisfies PublishedServer;

/** The Go toolchain that is downloaded where no Go on the machine is new enough. */
export interface Toolchain {
  /** Without `go` in front. */
  readonly version: string;
  /** SHA-512 of the ZIP file by platform. */
  readonly sums: ReadonlyMap<string, string>;
}

/** The module golang.org/toolchain of that version; the sums are of what the module proxy sends. */
export const goToolchain = {
  version: '1.26.8',
  sums: new Map([
    [
      'linux-amd64',
      'aaff8fb6ea5baf3019bbcb22e52dc915926e1bc0069bd73fdf01448d80d688b6d8a78bd91a1a403463dd25510254a61715db500a856cf880170b6ef3e217202d',
    ],
    [
      'linux-arm64',
      '8ca0d23098d47e98cfcf94f8c3376abf87e16089677a205a6f34af784e1f73b538b70d51068b29926cc8f024f65864af8e91332d4debe97ca782dcd69bcc5981',
    ],
    [
      'darwin-amd64',
      '0c6559a5dd6bd1e85adb99cc95bd61486793f3f71f6cdb5aaa113dc237a8dfb11255f3106f72f6f1a50a1f812c7f4ec941877aa38ba5a8e26d75c1b1c899b01a',
    ],
    [
      'darwin-arm64',
      '1c3f7773e086621741aeb02b9758262f8682af0eb57f79f61f45b3690af9f3b3e71745a77606221d2c1d03e51fc76c89d584c059e7c9313a33be8a0c62862070',
    ],
  ]),
} as const satisfies Toolchain;

/** Everything that can be downloaded. */
export interface Downloads {
  readonly archive: Published;
  readonly server: PublishedServer;
  readonly toolchain: Toolchain;
}

/** The files that are downloaded. */
export const downloads: Downloads = { archive: release, server: serverRelease, toolchain: goToolchain };

/** Programs of the control plane, and the Go package of each in its module. */
export const programs = [
  { name: 'etcd', module: 'etcd', source: 'go.etcd.io/etcd/server/v3', minutes: 1 },
  { name: 'kube-apiserver', module: 'kubernetes', source: 'k8s.io/kubernetes/cmd/kube-apiserver', minutes: 9 },
  { name: 'kubectl', module: 'kubernetes', source: 'k8s.io/kubernetes/cmd/kubectl', minutes: 1 },
] as const;

/**
 * Program that deletes the contents of a namespace, and the dependents of an object that is gone. Nothing else does
 * this, so tests of it need the program too.
 */
export const controllerManager = {
  name: 'kube-controller-manager',
  module: 'kubernetes',
  source: 'k8s.io/kubernetes/cmd/kube-controller-manager',
  minutes: 2,
} as const;

/** A program of a control plane, and the Go package it is built from. */
export type Program = (typeof programs)[number] | typeof controllerManager;

/** The name of a program that every control plane has. */
export type ProgramName = (typeof programs)[number]['name'];
