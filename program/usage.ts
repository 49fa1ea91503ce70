/** Lines of the commands that every installation has: the image, and the `boxgate` command of a checkout. */
export const COMMANDS = `boxgate api            serve the boxes of a database (settings: docs/reference/configuration.md)
       boxgate operator       keep the boxes of a Kubernetes cluster as they are declared
       boxgate migrate        bring a database to this release's schema, as its owner
       boxgate keys create    create the Secret of an installation's keys, once (a Job of the chart runs it)
       boxgate keys rotate    rotate one of them: management, certificate, encryption, digest
       boxgate keys forget encryption
                              remove the older encryption keys, and with them what only they open
       boxgate admin reset <box> <email>
                              give an administrator a new password, which is read from standard input
`;

/** Text that `boxgate help` prints in the image. */
export const USAGE = `Usage: ${COMMANDS}       boxgate help           this text (also --help)
       boxgate version        the version (also --version)
`;
