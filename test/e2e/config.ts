/** Settings of a run, and what `make e2e` hands to its stories. */
export interface E2eConfig {
  /** Image of Boxgate in the cluster. */
  readonly image: string;
  /** Image of the bundled Postgres in the cluster; undefined: the chart's own. */
  readonly postgresImage: string | undefined;
  /** Image of nginx in the cluster. */
  readonly nginxImage: string;
  /** Image of Postgres 15, the oldest one that Boxgate runs on. */
  readonly oldestPostgresImage: string;
}

/** Names of the environment variables that carry the settings from `main.ts` to the stories. */
export const variables = {
  image: 'E2E_IMAGE',
  postgresImage: 'E2E_POSTGRES_IMAGE',
  oldestPostgresImage: 'E2E_OLDEST_POSTGRES_IMAGE',
  nginxImage: 'E2E_NGINX_IMAGE',
};

/** Returns the settings of the stories. Throws if they were not started by `make e2e`, and no images are named. */
export function readE2eConfig(environment: Readonly<Record<string, string | undefined>> = process.env): E2eConfig {
  const image = environment[variables.image] ?? '';
  const nginxImage = environment[variables.nginxImage] ?? '';
  const oldestPostgresImage = environment[variables.oldestPostgresImage] ?? '';
  if (image === '' || nginxImage === '' || oldestPostgresImage === '') {
    const names = [variables.image, variables.nginxImage, variables.oldestPostgresImage];
    throw new Error(`${names.join(', ')} are not all set: run make e2e, which builds the images`);
  }
  const postgresImage = environment[variables.postgresImage] ?? '';
  return { image, nginxImage, oldestPostgresImage, postgresImage: postgresImage === '' ? undefined : postgresImage };
}
