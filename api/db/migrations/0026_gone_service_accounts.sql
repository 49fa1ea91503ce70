-- A ServiceAccount that was deleted takes its tokens with it, although they have not expired.
ALTER TABLE boxgate.service_account_pin
  -- Since when the ServiceAccount of this uid is not there, as its cluster says; null: it is there, or nobody has said.
  ADD COLUMN gone_at timestamptz;

DROP FUNCTION boxgate.find_service_accounts(text[], text[], text[], text[]);

-- Whose ServiceAccounts those of a client are (its owner's cluster; of a client without an owner, the only cluster that
-- has any), under which version of that cluster's settings, which uid its entry is pinned to, and whether that one is gone.
CREATE FUNCTION boxgate.find_service_accounts(
  p_boxes text[], p_clients text[], p_namespaces text[], p_names text[]
) RETURNS TABLE (nth bigint, cluster text, version bigint, uid text, gone boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT a.nth, c.cluster, c.version, p.uid, p.gone_at IS NOT NULL
    FROM unnest(p_boxes, p_clients, p_namespaces, p_names) WITH ORDINALITY AS a (box, client, namespace, name, nth)
    JOIN resource r ON r.box = a.box AND r.kind = 'Client' AND r.id = a.client
    JOIN cluster_settings c
      ON c.cluster = coalesce(r.owner_cluster, (
            SELECT min(o.cluster) FROM cluster_settings o WHERE o.service_account_issuer IS NOT NULL HAVING count(*) = 1))
    LEFT JOIN service_account_pin p
      ON (p.box, p.client, p.namespace, p.name) = (a.box, a.client, a.namespace, a.name)
$$;
