/**
 * Returns the command that grants the operator the rights of the ClusterRole `boxgate-box` in a namespace; `account` is
 * its ServiceAccount, as `namespace:name`.
 */
export function roleBindingCommand(namespace: string, account: string): string {
  return `kubectl create rolebinding boxgate-box -n ${namespace} --clusterrole=boxgate-box --serviceaccount=${account}`;
}
