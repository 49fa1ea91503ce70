import { COMMANDS } from '../program/usage.ts';

/** Text that `boxgate help` prints. */
export const USAGE = `Usage: boxgate dev <folder>   serve what the manifests in a folder declare, with no cluster
       ${COMMANDS}       boxgate help           this text (also --help, and boxgate dev --help)
       boxgate version        the version (also --version)

Options of boxgate dev:
  --port <n>              port of the service (8080; 0: any free one)
  --management-port <n>   port that desired state comes in by (8081; 0: any free one)
  --state <dir>           where data, secrets and logs are kept (.boxgate in the folder)
  --database-url <url>    use this Postgres, as its owner, instead of the embedded one
  --api-database-url <url>  the role of the API there (without it, the owner creates one)
  --once                  apply, print, and exit: 0 if everything is Ready, else 1
`;
