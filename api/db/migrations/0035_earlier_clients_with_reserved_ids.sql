-- Until the ids of the built-in clients were reserved, a client could have such an id and be deleted; its tombstone was
-- pruned a day later. Its sessions, refresh tokens, codes and consents must not become those of the built-in client: what
-- was begun before a tombstone is not valid for it. The boxes move to a new version, so that replicas load the tombstone.
WITH named AS (
  SELECT box, client FROM boxgate.session WHERE client IN ('boxgate.ui', 'boxgate.cli')
   UNION
  SELECT box, client FROM boxgate.refresh_family WHERE client IN ('boxgate.ui', 'boxgate.cli')
   UNION
  SELECT box, client FROM boxgate.consent WHERE client IN ('boxgate.ui', 'boxgate.cli')
   UNION
  SELECT box, client FROM boxgate.authorization_answer WHERE client IN ('boxgate.ui', 'boxgate.cli')
), deleted AS MATERIALIZED (
  SELECT n.box, n.client FROM named n
   WHERE NOT EXISTS (SELECT FROM boxgate.resource r WHERE r.box = n.box AND r.kind = 'Client' AND r.id = n.client)
     AND NOT EXISTS (SELECT FROM boxgate.tombstone t WHERE t.box = n.box AND t.kind = 'Client' AND t.id = n.client)
), bumped AS (
  UPDATE boxgate.box b
     SET config_version = greatest(b.config_version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
   WHERE b.box IN (SELECT d.box FROM deleted d)
  RETURNING b.box, b.config_version
), noted AS (
  INSERT INTO boxgate.box_version (box, version) SELECT box, config_version FROM bumped
), revoked AS (
  INSERT INTO boxgate.revocation (box, subject, version)
  SELECT d.box, 'client:' || d.client, b.config_version FROM deleted d JOIN bumped b ON b.box = d.box
  ON CONFLICT DO NOTHING
)
INSERT INTO boxgate.tombstone (box, kind, id, version)
SELECT d.box, 'Client', d.client, b.config_version FROM deleted d JOIN bumped b ON b.box = d.box;
