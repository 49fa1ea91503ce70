-- A host leads to one box, whatever the settings of boxes say: the primary key decides. A statement that asks for the box of a
-- host knows no box yet, so that this is the one key of a box's data that does not begin with the box.
CREATE TABLE boxgate.box_host (
  host    text PRIMARY KEY,
  box     text NOT NULL REFERENCES boxgate.box,
  -- The installation that assigned it.
  cluster text NOT NULL
);
CREATE INDEX box_host_box ON boxgate.box_host (box);
ALTER TABLE boxgate.box_host ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.box_host USING (box = current_setting('boxgate.box', true));

-- Of two boxes that claim a host the older claim wins, as before.
INSERT INTO boxgate.box_host (host, box, cluster)
SELECT DISTINCT ON (h.host) h.host, r.box, COALESCE(r.owner_cluster, b.namespace_cluster, '')
  FROM boxgate.resource r
  JOIN boxgate.box b ON b.box = r.box
 CROSS JOIN jsonb_array_elements_text(CASE jsonb_typeof(r.body -> 'hosts') WHEN 'array' THEN r.body -> 'hosts' END) AS h (host)
 WHERE r.kind = 'Box'
 ORDER BY h.host, r.created_at, r.box;

-- The settings of boxes are looked through by their kind from now on, not by a host.
DROP INDEX boxgate.resource_hosts;
CREATE INDEX resource_boxes ON boxgate.resource (box) WHERE kind = 'Box';

-- The box that a host was assigned to, while its settings name it.
CREATE OR REPLACE FUNCTION boxgate.box_of_host(p_host text) RETURNS TABLE (box text, issuer text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT h.box, r.body ->> 'issuer'
    FROM box_host h JOIN resource r ON r.box = h.box AND r.kind = 'Box'
   WHERE h.host = p_host AND r.body -> 'hosts' ? p_host
$$;

-- A release before this one stores hosts and assigns none: the first to claim a host has it then.
CREATE FUNCTION boxgate.claim_hosts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  INSERT INTO box_host (host, box, cluster)
  SELECT h.host, NEW.box, COALESCE(NEW.owner_cluster, '') FROM jsonb_array_elements_text(NEW.body -> 'hosts') AS h (host)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER hosts AFTER INSERT OR UPDATE OF body ON boxgate.resource
  FOR EACH ROW WHEN (NEW.kind = 'Box' AND jsonb_typeof(NEW.body -> 'hosts') = 'array')
  EXECUTE FUNCTION boxgate.claim_hosts();

-- Settings without the hosts that the box does not have, and without an issuer on another one; the default issuer stays.
CREATE FUNCTION boxgate.settings_within(p_body jsonb, p_hosts text[], p_default_issuer text) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = boxgate, pg_temp
AS $$
  SELECT (p_body - 'hosts' - 'issuer')
      || CASE jsonb_typeof(p_body -> 'hosts') WHEN 'array' THEN (
           SELECT jsonb_build_object('hosts', COALESCE(jsonb_agg(h.host ORDER BY h.nth), '[]'))
             FROM jsonb_array_elements_text(p_body -> 'hosts') WITH ORDINALITY AS h (host, nth)
            WHERE h.host = ANY (p_hosts)) ELSE '{}' END
      || CASE WHEN p_body ->> 'issuer' = p_default_issuer
                OR substring(lower(p_body ->> 'issuer') FROM '^https://([^/:?#@]+)') = ANY (p_hosts)
              THEN jsonb_build_object('issuer', p_body -> 'issuer') ELSE '{}' END
$$;

-- Assigns the hosts of a cluster's boxes, all in one step, so that a host passes from one box to another without a moment in
-- which both have it. `p_named` are the boxes that the call speaks of; (`p_box`, `p_host`) are what their namespaces grant,
-- `p_claimed` which of it the box gets. What a box has, is granted and nobody else gets stays as long as its settings name it:
-- the object that declares them may be unreadable, or its definition gone.
-- Then it takes out of the settings of every box that is bound to a namespace of the cluster what the box does not have, under
-- a new version, and their digest, so that they are stored again once the box has it.
-- Gives the boxes of which anything changed, the claims that a box of another cluster holds off (`refused`), and the boxes that
-- have a host and that the call does not speak of (`unnamed`). The caller has fenced the call in the same transaction.
CREATE FUNCTION boxgate.assign_hosts(
  p_cluster text, p_default_issuers text, p_named text[], p_box text[], p_host text[], p_claimed boolean[]
) RETURNS TABLE (outcome text, box text, host text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  v_released text[];
  v_assigned text[];
  v_stripped text[] := '{}';
  v_box      text;
  v_version  bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('boxgate.box_host', 0));
  INSERT INTO box (box) SELECT DISTINCT w.box FROM unnest(p_box, p_claimed) AS w (box, claimed) WHERE w.claimed
  ON CONFLICT DO NOTHING;

  -- Waits for the applies that rely on one of these.
  WITH released AS (
    DELETE FROM box_host h
     WHERE h.cluster = p_cluster AND h.box = ANY (p_named)
       AND NOT EXISTS (
             SELECT FROM unnest(p_box, p_host, p_claimed) AS w (box, host, claimed)
              WHERE w.box = h.box AND w.host = h.host
                AND (w.claimed OR EXISTS (SELECT FROM resource r
                                           WHERE r.box = h.box AND r.kind = 'Box' AND r.body -> 'hosts' ? h.host))
                AND NOT EXISTS (SELECT FROM unnest(p_box, p_host, p_claimed) AS o (box, host, claimed)
                                 WHERE o.claimed AND o.host = h.host AND o.box <> h.box))
    RETURNING h.box
  )
  SELECT array_agg(r.box) INTO v_released FROM released r;

  WITH assigned AS (
    INSERT INTO box_host AS h (host, box, cluster)
    SELECT w.host, w.box, p_cluster FROM unnest(p_box, p_host, p_claimed) AS w (box, host, claimed) WHERE w.claimed
    ORDER BY w.host
    ON CONFLICT DO NOTHING
    RETURNING h.box
  )
  SELECT array_agg(a.box) INTO v_assigned FROM assigned a;

  FOR v_box IN
    SELECT r.box FROM resource r JOIN box b ON b.box = r.box
     WHERE r.kind = 'Box' AND b.namespace_cluster = p_cluster
       AND r.body <> settings_within(r.body, ARRAY(SELECT h.host FROM box_host h WHERE h.box = r.box), p_default_issuers || r.box)
     ORDER BY r.box
  LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('boxgate.box ' || v_box, 0));
    UPDATE box b SET config_version = greatest(b.config_version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
     WHERE b.box = v_box RETURNING b.config_version INTO v_version;
    INSERT INTO box_version (box, version) VALUES (v_box, v_version);
    UPDATE resource r
       SET body = settings_within(r.body, ARRAY(SELECT h.host FROM box_host h WHERE h.box = r.box), p_default_issuers || r.box),
           version = v_version, digest = NULL, updated_at = now(),
           content = CASE WHEN row_state(r) = 'changed' THEN r.content ELSE '' END
     WHERE r.box = v_box AND r.kind = 'Box';
    v_stripped := v_stripped || v_box;
  END LOOP;

  RETURN QUERY
    SELECT 'changed'::text, c.box, NULL::text FROM (SELECT DISTINCT unnest(v_released || v_assigned || v_stripped)) AS c (box)
    UNION ALL
    SELECT 'refused', w.box, w.host FROM unnest(p_box, p_host, p_claimed) AS w (box, host, claimed)
     WHERE w.claimed AND NOT EXISTS (SELECT FROM box_host h WHERE h.host = w.host AND h.box = w.box)
    UNION ALL
    SELECT DISTINCT 'unnamed', h.box, NULL FROM box_host h WHERE h.cluster = p_cluster AND NOT h.box = ANY (p_named);
END
$$;

-- As before; the hosts go with the boxes.
CREATE OR REPLACE FUNCTION boxgate.adopt_cluster(p_old text, p_new text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  IF p_old = p_new THEN
    RETURN;
  END IF;
  WITH opened AS (
    UPDATE box b
       SET config_version = greatest(b.config_version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
     WHERE b.namespace_cluster = p_old AND b.locked_for IS NOT NULL
    RETURNING b.box, b.config_version
  )
  INSERT INTO box_version (box, version) SELECT o.box, o.config_version FROM opened o;
  UPDATE box b SET namespace_cluster = p_new, namespace_uid = NULL, locked_for = NULL WHERE b.namespace_cluster = p_old;
  UPDATE box_host h SET cluster = p_new WHERE h.cluster = p_old;
  UPDATE resource r
     SET owner_cluster = p_new, owner_uid = NULL,
         content = CASE WHEN r.content = content_of(r) THEN ''
                        WHEN row_state(r) = 'changed' THEN r.content
                        ELSE '' END
   WHERE r.owner_cluster = p_old;
END
$$;
