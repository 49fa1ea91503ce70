-- Groups that a custom resource or a manifest declares. Such a row has what a declared resource has (0001, 0005, 0009):
-- who declares it, the digest of the declaration, and a hash of the row as the service wrote it.
ALTER TABLE boxgate.group
  -- Who declares it; null when it was made over REST, or retained.
  ADD COLUMN owner_cluster text,
  ADD COLUMN owner_name    text,
  ADD COLUMN owner_uid     text,
  -- The declaring side's keyed digest of what it declared.
  ADD COLUMN digest        text,
  -- When the object that declares it goes, it goes on without an owner, with its members.
  ADD COLUMN retain        boolean NOT NULL DEFAULT false,
  -- Hash of the row, and the transaction that wrote it. Who declares a row sets '' and a trigger puts the hash there.
  ADD COLUMN content       text,
  ADD COLUMN written_in    xid,
  ADD CHECK ((owner_cluster IS NULL) = (owner_name IS NULL));

CREATE FUNCTION boxgate.content_of_group(g boxgate.group) RETURNS text
LANGUAGE sql STABLE
AS $$
  SELECT encode(sha256(convert_to(jsonb_build_array(g.box, g.id, g.name, g.description, g.version, g.owner_cluster,
           g.owner_name, g.owner_uid, g.digest, g.retain)::text, 'UTF8')), 'hex')
$$;

CREATE FUNCTION boxgate.set_group_content() RETURNS trigger
LANGUAGE plpgsql SET search_path = boxgate, pg_temp
AS $$
BEGIN
  NEW.content := content_of_group(NEW);
  NEW.written_in := pg_current_xact_id()::xid;
  RETURN NEW;
END
$$;
CREATE TRIGGER content BEFORE INSERT OR UPDATE ON boxgate.group
  FOR EACH ROW WHEN (NEW.content = '') EXECUTE FUNCTION boxgate.set_group_content();

-- The boxes in which this cluster declares something, and those bound to its namespaces.
CREATE OR REPLACE FUNCTION boxgate.declared_boxes(p_cluster text) RETURNS TABLE (box text, resources bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT c.box, sum(c.resources)::bigint
    FROM (SELECT r.box, count(*) FROM resource r WHERE r.owner_cluster = p_cluster GROUP BY r.box
          UNION ALL
          SELECT g.box, count(*) FROM boxgate.group g WHERE g.owner_cluster = p_cluster GROUP BY g.box
          UNION ALL
          SELECT b.box, 0 FROM box b WHERE b.namespace_cluster = p_cluster AND b.missing_since IS NULL) AS c (box, resources)
   GROUP BY c.box ORDER BY c.box
$$;

-- The boxes in which something is stored or declared: one alone is served at the root of a standalone installation.
CREATE OR REPLACE FUNCTION boxgate.boxes_in_use(p_limit int) RETURNS TABLE (box text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT b.box FROM box b
   WHERE EXISTS (SELECT FROM resource r WHERE r.box = b.box)
      OR EXISTS (SELECT FROM boxgate.group g WHERE g.box = b.box AND g.owner_cluster IS NOT NULL)
   ORDER BY b.box LIMIT p_limit
$$;

-- As in 0020, and the groups.
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
  UPDATE boxgate.group g
     SET owner_cluster = p_new, owner_uid = NULL,
         content = CASE WHEN g.content = content_of_group(g) THEN '' ELSE g.content END
   WHERE g.owner_cluster = p_old;
END
$$;
