-- A token carries the rights of its user with the scope `boxgate` only, and its user consents to that scope in words. What
-- was granted before this migration was not: an older release took the word for any other one.
UPDATE boxgate.session
   SET scope = nullif(array_to_string(array_remove(string_to_array(scope, ' '), 'boxgate'), ' '), '')
 WHERE user_id IS NOT NULL AND 'boxgate' = ANY (string_to_array(scope, ' '));
UPDATE boxgate.refresh_family
   SET scope = nullif(array_to_string(array_remove(string_to_array(scope, ' '), 'boxgate'), ' '), '')
 WHERE user_id IS NOT NULL AND 'boxgate' = ANY (string_to_array(scope, ' '));
UPDATE boxgate.authorization_answer
   SET scope = nullif(array_to_string(array_remove(string_to_array(scope, ' '), 'boxgate'), ' '), '')
 WHERE 'boxgate' = ANY (string_to_array(scope, ' '));
UPDATE boxgate.consent SET scopes = array_remove(scopes, 'boxgate') WHERE 'boxgate' = ANY (scopes);

-- A client that no object declares is not first party: otherwise a client that may write clients could get the rights of
-- any user without a page. The rows move to a new version of their box, so that replicas that hold it load them.
WITH trusted AS MATERIALIZED (
  SELECT r.box, r.id FROM boxgate.resource r
   WHERE r.kind = 'Client' AND r.owner_cluster IS NULL AND r.body -> 'first_party' = 'true'
), bumped AS (
  UPDATE boxgate.box b
     SET config_version = greatest(b.config_version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
   WHERE b.box IN (SELECT t.box FROM trusted t)
  RETURNING b.box, b.config_version
), noted AS (
  INSERT INTO boxgate.box_version (box, version) SELECT box, config_version FROM bumped
)
UPDATE boxgate.resource r
   SET body = r.body || '{"first_party": false}', version = b.config_version, content = '', updated_at = now()
  FROM trusted t JOIN bumped b ON b.box = t.box
 WHERE r.box = t.box AND r.kind = 'Client' AND r.id = t.id;
