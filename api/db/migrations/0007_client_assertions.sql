-- What authenticates a client without a secret: assertions that were used, ServiceAccounts that were seen, and what the
-- API knows of the clusters whose ServiceAccounts those are.

-- An assertion of private_key_jwt counts once (RFC 7523 §3). Kept until no clock takes it for valid any more.
CREATE TABLE boxgate.used_assertion (
  box        text NOT NULL REFERENCES boxgate.box,
  client     text NOT NULL,
  -- SHA-256 of its jti.
  jti        bytea NOT NULL,
  -- The request that used it: the same one may ask again, when it decides again.
  request    uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (box, client, jti)
);
CREATE INDEX used_assertion_expires ON boxgate.used_assertion (expires_at);
ALTER TABLE boxgate.used_assertion ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.used_assertion USING (box = current_setting('boxgate.box', true));

-- The ServiceAccount behind an entry of a client's service_accounts, from its first token on: one that is made again
-- under the old name is another one.
CREATE TABLE boxgate.service_account_pin (
  box       text NOT NULL REFERENCES boxgate.box,
  client    text NOT NULL,
  namespace text NOT NULL,
  name      text NOT NULL,
  uid       text NOT NULL,
  seen_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (box, client, namespace, name)
);
ALTER TABLE boxgate.service_account_pin ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.service_account_pin USING (box = current_setting('boxgate.box', true));

-- Who makes and signs the ServiceAccount tokens of a cluster, as its operator has read it last.
CREATE TABLE boxgate.cluster_settings (
  cluster                 text PRIMARY KEY,
  -- Moves with every change.
  version                 bigint NOT NULL,
  service_account_issuer  text,
  -- A JWK set (RFC 7517 §5).
  service_account_keys    jsonb,
  CHECK ((service_account_issuer IS NULL) = (service_account_keys IS NULL))
);

-- A pin goes with the entry it is for, with its client, and when another object, or another
-- cluster, declares the client.
CREATE FUNCTION boxgate.unpin_service_accounts() RETURNS trigger
LANGUAGE plpgsql SET search_path = boxgate, pg_temp
AS $$
BEGIN
  IF TG_OP = 'DELETE' OR (NEW.owner_uid IS NOT NULL AND NEW.owner_uid IS DISTINCT FROM OLD.owner_uid)
     OR (NEW.owner_cluster IS NOT NULL AND NEW.owner_cluster IS DISTINCT FROM OLD.owner_cluster) THEN
    DELETE FROM service_account_pin p WHERE p.box = OLD.box AND p.client = OLD.id;
  ELSE
    DELETE FROM service_account_pin p
     WHERE p.box = OLD.box AND p.client = OLD.id
       AND NOT coalesce(NEW.body -> 'service_accounts', '[]')
               @> jsonb_build_array(jsonb_build_object('namespace', p.namespace, 'name', p.name));
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER unpin_service_accounts AFTER UPDATE OR DELETE ON boxgate.resource
  FOR EACH ROW WHEN (OLD.kind = 'Client' AND OLD.body ? 'service_accounts')
  EXECUTE FUNCTION boxgate.unpin_service_accounts();

-- Uses assertions, each once: whether it is this request that did.
CREATE FUNCTION boxgate.use_assertions(
  p_boxes text[], p_clients text[], p_jtis bytea[], p_requests uuid[], p_expires bigint[]
) RETURNS TABLE (nth bigint, fresh boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH asked AS (
    SELECT * FROM unnest(p_boxes, p_clients, p_jtis, p_requests, p_expires)
      WITH ORDINALITY AS a (box, client, jti, request, expires, nth)
  ), stored AS (
    INSERT INTO used_assertion AS u (box, client, jti, request, expires_at)
    SELECT a.box, a.client, a.jti, a.request, to_timestamp(a.expires)
      FROM asked a JOIN box b ON b.box = a.box ORDER BY a.box, a.client, a.jti
    ON CONFLICT DO NOTHING RETURNING u.box, u.client, u.jti, u.request
  )
  SELECT a.nth, EXISTS (
           SELECT FROM stored s WHERE (s.box, s.client, s.jti, s.request) = (a.box, a.client, a.jti, a.request)
           UNION ALL
           SELECT FROM used_assertion u WHERE (u.box, u.client, u.jti, u.request) = (a.box, a.client, a.jti, a.request))
    FROM asked a
$$;

-- Whose ServiceAccounts those of a client are (its owner's cluster; of a client without an owner, the only cluster that
-- has any), under which version of that cluster's settings, and which uid its entry is pinned to.
CREATE FUNCTION boxgate.find_service_accounts(
  p_boxes text[], p_clients text[], p_namespaces text[], p_names text[]
) RETURNS TABLE (nth bigint, cluster text, version bigint, uid text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT a.nth, c.cluster, c.version, p.uid
    FROM unnest(p_boxes, p_clients, p_namespaces, p_names) WITH ORDINALITY AS a (box, client, namespace, name, nth)
    JOIN resource r ON r.box = a.box AND r.kind = 'Client' AND r.id = a.client
    JOIN cluster_settings c
      ON c.cluster = coalesce(r.owner_cluster, (
            SELECT min(o.cluster) FROM cluster_settings o WHERE o.service_account_issuer IS NOT NULL HAVING count(*) = 1))
    LEFT JOIN service_account_pin p
      ON (p.box, p.client, p.namespace, p.name) = (a.box, a.client, a.namespace, a.name)
$$;

-- Deletes used assertions that are over, of all boxes.
CREATE FUNCTION boxgate.delete_used_assertions(p_before timestamptz, p_limit int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH over AS (
    SELECT u.box, u.client, u.jti FROM used_assertion u WHERE u.expires_at < p_before
     ORDER BY u.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), deleted AS (
    DELETE FROM used_assertion u USING over o WHERE (u.box, u.client, u.jti) = (o.box, o.client, o.jti) RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;
