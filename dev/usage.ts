/** Text that `boxgate help` prints. */
export const USAGE = `Usage: boxgate dev <folder>   serve what the manifests in a folder declare, with no cluster
       boxgate api            serve the boxes of a database (settings: docs/configuration.md)
       boxgate operator       keep the boxes of a Kubernetes cluster as they are declared
       boxgate migrate        bring a database to this release's schema, as its owner
       boxgate keys create    create the Secrets of an installation in Kubernetes, once (also: keys rotate <key>)
       boxgate admin reset <box> <email>
                              give an administrator a new password, which is read from standard input
       boxgate help           this text (also --help, and boxgate dev --help)
       boxgate version        the version (also --version)

Options of boxgate dev:
  --port <n>              port of the service (8080; 0: any free one)
  --management-port <n>   port that desired state comes in by (8081; 0: any free one)
  --state <dir>           where data, secrets and logs are kept (.boxgate in the folder)
  --database-url <url>    use this Postgres, as its owner, instead of the embedded one
  --once                  apply, print, and exit: 0 if everything is Ready, else 1
`;
