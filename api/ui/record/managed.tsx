import { useUi } from '../context.ts';

/** Plural names of the custom resources, as kubectl takes them. */
const plurals: Readonly<Record<string, string>> = {
  Client: 'clients',
  AccessPolicy: 'accesspolicies',
  Group: 'groups',
};

/** Says that a record is declared elsewhere, and how to see it there; `name` is `<namespace>/<name>`. */
export function Managed({ resource, name }: { readonly resource: string; readonly name: string }) {
  const { say, folder } = useUi();
  if (folder !== '') {
    return (
      <div class="note" role="note">
        <p>{say.managedInFolder(`${resource} ${name}`, folder)}</p>
      </div>
    );
  }
  const [namespace = '', object = ''] = name.split('/');
  const command = `kubectl get ${plurals[resource] ?? resource}.boxgate.dev ${object} --namespace ${namespace} -o yaml`;
  return (
    <div class="note" role="note">
      <p>{say.managed(`${resource} ${name}`)}</p>
      <pre tabIndex={0} aria-label={say.command}>
        {command}
      </pre>
    </div>
  );
}
