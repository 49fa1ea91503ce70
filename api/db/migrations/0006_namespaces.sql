-- A box belongs to one namespace of one cluster, known by its uid: a namespace that is made again under the old name has
-- another one, and inherits nothing unless an admin says so.
ALTER TABLE boxgate.box
  -- Which namespace; null before one was named (and in installations without namespaces).
  ADD COLUMN namespace_cluster text,
  ADD COLUMN namespace_uid     text,
  -- The uid of another namespace of this name that asked for the box: since then nothing of the box is served.
  ADD COLUMN locked_for        text,
  -- Sessions decided under an older version belong to data that was discarded: nobody sees their records.
  ADD COLUMN records_from      bigint NOT NULL DEFAULT 0,
  -- Such records are still there, to be deleted in the background.
  ADD COLUMN discarding        boolean NOT NULL DEFAULT false;

-- Makes the rows and boxes of one cluster another's: the same objects in a cluster that was made anew have other uids, so
-- whoever is found under the old names is the owner. Boxes that were locked are open again, under a new version. The
-- caller has fenced the old cluster in the same transaction. A row that was changed past the service stays marked so.
CREATE FUNCTION boxgate.adopt_cluster(p_old text, p_new text) RETURNS void
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
  UPDATE resource r
     SET owner_cluster = p_new, owner_uid = NULL,
         content = CASE WHEN r.content = content_of(r) THEN ''
                        WHEN row_state(r) = 'changed' THEN r.content
                        ELSE '' END
   WHERE r.owner_cluster = p_old;
END
$$;

-- Deletes records of discarded sessions from one bucket, at most so many; gives their number. The API has no right to
-- delete sessions, and this deletes no others.
CREATE FUNCTION boxgate.delete_records(p_box text, p_bucket integer, p_limit integer) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH discarded AS MATERIALIZED (
    SELECT s.id FROM session s JOIN box b ON b.box = s.box
     WHERE s.box = p_box AND s.bucket = p_bucket AND s.version < b.records_from LIMIT p_limit
  ), deleted AS (
    DELETE FROM session s USING discarded d WHERE s.box = p_box AND s.bucket = p_bucket AND s.id = d.id RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;
